/** What tools of a program's own need of ours. */
import { builtinTools } from "@lathe/tools";

const further = "diagnostics web_fetch web_search task plan skill remember find_tools call_tool".split(" ");
const taken: ReadonlySet<string> = new Set([...builtinTools.map(({ name }) => name), ...further]);

/** Whether a tool of ours, or of a server, has the name: no API takes one twice. */
export function isTaken(name: string): boolean {
  return taken.has(name) || name.startsWith("mcp__");
}
