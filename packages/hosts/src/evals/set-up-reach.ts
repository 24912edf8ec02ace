/** Set-up reach: what the set-up of tasks reaches: the registries of their package managers, and what was allowed beside. */
import type { Reach } from "./eval-shell.ts";

/** Projects say in many files what they are; the set-up asks for no others. */
const kinds = ["npm", "pypi"] as const;

export async function setUpReach(more: readonly string[] | "open"): Promise<Reach> {
  if (more === "open") return "open";
  const { registryHosts } = await import("@lathe/sandbox");
  return { hosts: [...registryHosts(kinds), ...more] };
}
