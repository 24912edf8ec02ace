/** Builds parts of a model's answers for tests. */
import type { AssistantPart } from "@lathe/protocol";

export function say(text: string): AssistantPart {
  return { type: "text", text };
}

export function call(id: string, tool: string, input: object): AssistantPart {
  return { type: "tool-call", id, tool, input: JSON.stringify(input) };
}

/** Builds a call whose ID is derived from the tool's name. */
export function callTo(tool: string, input: object): AssistantPart {
  return call(`c-${tool}`, tool, input);
}
