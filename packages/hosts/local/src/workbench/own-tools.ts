/** Support for tools that a program adds itself. */
import { knownTools } from "@lathe/tools/known";

const taken: ReadonlySet<string> = new Set(knownTools.map(({ name }) => name));

/** Whether a built-in tool or an MCP tool has the name: no API accepts a name twice. */
export function isTaken(name: string): boolean {
  return taken.has(name) || name.startsWith("mcp__");
}
