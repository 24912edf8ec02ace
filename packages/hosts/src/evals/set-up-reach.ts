/** Set-up reach: what the set-up of tasks reaches: the registries of their package managers, and what was allowed beside. */
import type { LocalOptions } from "../local-options.ts";
import type { Reach } from "./eval-shell.ts";

/** Projects say in many files what they are; the set-up asks for no others. */
const kinds = ["npm", "pypi"] as const;

/** `folder`: where commands write: settings that lie there are none of the user's. */
export async function setUpReach(
  more: readonly string[] | "open",
  place: { readonly cwd: string; readonly env: LocalOptions["env"] },
): Promise<Reach> {
  if (more === "open") return "open";
  const [{ registryHosts }, { ownRegistryHosts }] = await Promise.all([
    import("@lathe/sandbox"),
    import("../registries/own-registry-hosts.ts"),
  ]);
  const own = ownRegistryHosts(kinds, place, registryHosts);
  return { hosts: [...more, ...own, ...registryHosts(kinds)] };
}
