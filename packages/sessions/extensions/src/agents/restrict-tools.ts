/** Restricts the tools of a parent to those that a subagent's definition names. */
import { failure, isFailure, type Tool } from "@lathe/protocol";
import { toolNames } from "@lathe/tools/known";
import type { AgentDefinition } from "./agent-definition.ts";

type Names = Pick<AgentDefinition, "tools" | "without">;

const { callTool, findTools } = toolNames;
/** With many server tools, models find and call them through these. */
const searchTools: readonly string[] = [findTools, callTool];

export function restrictTools(tools: readonly Tool[], names: Names): readonly Tool[] {
  return tools
    .filter(({ name }) => mayUse(name, names) || isWayToNamed(name, names))
    .map((tool) => (tool.name === callTool ? withRestrictedCalls(tool, names) : tool));
}

function mayUse(name: string, { tools, without = [] }: Names): boolean {
  return (tools === undefined || isNamed(name, tools)) && !isNamed(name, without);
}

/** A definition that names a server's tool also gets the tools that find and call it. */
function isWayToNamed(name: string, { tools = [], without = [] }: Names): boolean {
  return searchTools.includes(name) && tools.some(isServerTool) && !without.includes(name);
}

/** `call_tool` may only call the named tools, too. */
function withRestrictedCalls(tool: Tool, names: Names): Tool {
  // A definition that names `call_tool` but no server tool may call all of them.
  const isAny = names.tools?.includes(callTool) === true && !names.tools.some(isServerTool);
  const { tools: _, ...removed } = names;
  const allowed = isAny ? removed : names;
  return {
    ...tool,
    prepare: (input) => {
      const call = tool.prepare(input);
      const called = isFailure(call) ? undefined : call.taken?.tool;
      if (called === undefined || mayUse(called, allowed)) return call;
      return failure("invalid-arguments", `${callTool}: this subagent does not have ${called}`);
    },
  };
}

function isServerTool(name: string): boolean {
  return name.startsWith("mcp__");
}

/** `mcp__SERVER` and `mcp__SERVER__*` both name all tools of a server. */
function isNamed(name: string, names: readonly string[]): boolean {
  return names.some((one) => {
    if (one === name) return true;
    if (!isServerTool(one)) return false;
    return name.startsWith(one.endsWith("*") ? one.slice(0, -1) : `${one}__`);
  });
}
