/** Set-up reach: what the set-up of tasks reaches: the registries of their package managers, and what was allowed beside. */
import type { RegistryPlace } from "../registries/own-registries.ts";
import type { Reach } from "./eval-shell.ts";

/** Projects say in many files what they are; the set-up asks for no others. */
const kinds = ["npm", "pypi"] as const;

/** `place`: where commands write, and beside it what is evaluated: settings that lie there are none of the user's. */
export async function setUpReach(more: readonly string[] | "open", place: RegistryPlace): Promise<Reach> {
  if (more === "open") return "open";
  const [{ registryHosts }, { ownRegistryHosts }] = await Promise.all([
    import("@lathe/sandbox"),
    import("../registries/own-registry-hosts.ts"),
  ]);
  const own = ownRegistryHosts(kinds, place, registryHosts);
  return { hosts: [...more, ...own, ...registryHosts(kinds)] };
}
