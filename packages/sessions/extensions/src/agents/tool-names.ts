/** Tool names: translates the names in definitions written for other agents. */
import { mcpName } from "@lathe/tools";
import { knownTools } from "@lathe/tools/known";

/** A subagent does not submit plans. */
const meaningless: ReadonlySet<string> = new Set(["exitplanmode"]);

/** The tools that a name grants; undefined for an unknown name. */
export function toolsGrantedBy(name: string, own: readonly string[]): readonly string[] | undefined {
  if (own.includes(name)) return [name];
  const [, server, tool = ""] = /^mcp__(.+?)__([^*]+)$/u.exec(name) ?? [];
  if (server !== undefined) return [mcpName(server, tool)];
  if (name.startsWith("mcp__")) return [name.replace(/[^\w*-]/gu, "_")];
  // Other agents differ in capitals only.
  const foreign = name.toLowerCase();
  if (meaningless.has(foreign)) return [];
  const meant = knownTools.filter(({ knownAs = [] }) => knownAs.includes(foreign));
  if (meant.length > 0) return meant.map((one) => one.name);
  return knownTools.some((one) => one.name === name) ? [name] : undefined;
}

/** The tools that are removed with a name; undefined for an unknown name. */
export function toolsRemovedBy(name: string, own: readonly string[]): readonly string[] | undefined {
  const given = toolsGrantedBy(name, own);
  return given?.flatMap((one) => [one, ...standInsFor(one)]);
}

/** Also removes the tools that have the same effect by other means. */
function standInsFor(name: string): readonly string[] {
  return knownTools.flatMap((one) => (one.standsInFor === name ? [one.name] : []));
}
