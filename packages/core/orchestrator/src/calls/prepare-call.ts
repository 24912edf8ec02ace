/** Prepare a call: find its tool, parse its arguments, let the tool check them. */
import { type Failure, failure, type PreparedCall, type Tool, type ToolCallPart } from "@lathe/protocol";

export function prepareCall(call: ToolCallPart, tools: ReadonlyMap<string, Tool>): PreparedCall | Failure {
  const tool = tools.get(call.tool);
  if (!tool) {
    return failure(
      "unknown-tool",
      `there is no tool ${call.tool}; the tools are ${[...tools.keys()].join(", ")}`,
    );
  }
  const input = parseInput(call.input);
  if (input === undefined) {
    return failure("invalid-arguments", `the arguments of ${call.tool} are not valid JSON; nothing was done`);
  }
  return tool.prepare(input);
}

/** Some models send nothing at all for no arguments. */
function parseInput(input: string): unknown {
  if (input.trim() === "") return {};
  try {
    return JSON.parse(input);
  } catch {
    return undefined;
  }
}
