/** What a model says in tests: parts of its answers. */
import type { AssistantPart } from "@lathe/protocol";

export function say(text: string): AssistantPart {
  return { type: "text", text };
}

export function call(id: string, tool: string, input: object): AssistantPart {
  return { type: "tool-call", id, tool, input: JSON.stringify(input) };
}

/** Where the id tells nothing that the tool's name does not. */
export function callTo(tool: string, input: object): AssistantPart {
  return call(`c-${tool}`, tool, input);
}
