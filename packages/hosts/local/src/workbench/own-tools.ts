/** What tools of a program's own need of ours. */
import { knownTools } from "@lathe/tools/known";

const taken: ReadonlySet<string> = new Set(knownTools.map(({ name }) => name));

/** Whether a tool of ours, or of a server, has the name: no API takes one twice. */
export function isTaken(name: string): boolean {
  return taken.has(name) || name.startsWith("mcp__");
}
