/** Held tools: what of its parent's tools a subagent has, by the names in its definition. */
import { failure, isFailure, type Tool } from "@lathe/protocol";
import type { AgentDefinition } from "./agent-definition.ts";

type Names = Pick<AgentDefinition, "tools" | "without">;

const callTool = "call_tool";
/** By which tools of servers are found and called where they are many. */
const searching: readonly string[] = ["find_tools", callTool];

export function heldTools(tools: readonly Tool[], names: Names): readonly Tool[] {
  return tools
    .filter(({ name }) => mayUse(name, names) || isWayToNamed(name, names))
    .map((tool) => (tool.name === callTool ? heldCalls(tool, names) : tool));
}

function mayUse(name: string, { tools, without = [] }: Names): boolean {
  return (tools === undefined || isNamed(name, tools)) && !isNamed(name, without);
}

/** Who names a server's tool gets to it, also where it is searched for. */
function isWayToNamed(name: string, { tools = [], without = [] }: Names): boolean {
  return searching.includes(name) && tools.some(isServers) && !without.includes(name);
}

/** What it calls is held to the names, too. */
function heldCalls(tool: Tool, names: Names): Tool {
  // Who was given the search itself, and no tool behind it by name, may call all of them.
  const isAny = names.tools?.includes(callTool) === true && !names.tools.some(isServers);
  const { tools: _, ...taken } = names;
  const held = isAny ? taken : names;
  return {
    ...tool,
    prepare: (input) => {
      const call = tool.prepare(input);
      const called = isFailure(call) ? undefined : call.taken?.tool;
      if (called === undefined || mayUse(called, held)) return call;
      return failure("invalid-arguments", `call_tool: this subagent does not have ${called}`);
    },
  };
}

function isServers(name: string): boolean {
  return name.startsWith("mcp__");
}

/** `mcp__SERVER` and `mcp__SERVER__*` name all tools of a server. */
function isNamed(name: string, names: readonly string[]): boolean {
  return names.some((one) => {
    if (one === name) return true;
    if (!isServers(one)) return false;
    return name.startsWith(one.endsWith("*") ? one.slice(0, -1) : `${one}__`);
  });
}
