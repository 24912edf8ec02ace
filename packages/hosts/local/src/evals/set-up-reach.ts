/** Set-up reach: what the set-up of tasks reaches: the registries of their package managers, and what was allowed beside. */
import { hostsOfRegistries, type RegistryPlace } from "@lathe/sandbox/registries";
import type { Reach } from "./eval-shell.ts";

/** Projects say in many files what they are; the set-up asks for no others. */
const kinds = ["npm", "pypi"] as const;

/** `place`: where commands write, and beside it what is evaluated: settings that lie there are none of the user's. */
export async function setUpReach(more: readonly string[] | "open", place: RegistryPlace): Promise<Reach> {
  if (more === "open") return "open";
  return { hosts: [...more, ...(await hostsOfRegistries(kinds, place))] };
}
