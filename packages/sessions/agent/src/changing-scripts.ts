/**
 * Changing scripts: files that a command runs while a command in the background may rewrite them. A start compares
 * them with what was judged and holds the others still while it begins, but a script may be read later than that. What
 * was judged then says little of what runs, so that a command which could do harm with it counts as undecided.
 */
import type { Effect, Facts, JudgedFiles, Ports, Rule } from "@lathe/protocol";
import type { Asking } from "./gather-facts.ts";

export function changingScripts(
  judged: JudgedFiles,
  { asking, facts }: { readonly asking: Asking; readonly facts: Facts },
  { workspace, runsInBackground, rules }: Pick<Ports, "workspace" | "runsInBackground" | "rules">,
): readonly Effect[] {
  const inside = Object.keys(judged).filter(
    (path) => judged[path] !== null && path.startsWith(`${workspace.root}/`),
  );
  if (inside.length === 0 || runsInBackground?.() !== true) return [];
  // In a full sandbox without a way out nothing that a script does reaches further than an undecided one may.
  if (facts.containment === "full" && !reachesHosts(asking, rules)) return [];
  return inside.map((path) => ({
    kind: "execute",
    target: path.slice(workspace.root.length + 1),
    expansion: "unknown",
  }));
}

function reachesHosts({ allowed = [], grants = [] }: Asking, rules: readonly Rule[]): boolean {
  const isHost = ({ verdict, kinds }: Rule): boolean =>
    verdict === "allow" && kinds?.includes("network") === true;
  return [...rules, ...allowed].some(isHost) || grants.some(({ kind }) => kind === "network");
}
