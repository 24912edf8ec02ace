/** Content: messages in the format of the GenAI conventions; exported only if configured. */
import { type AssistantPart, type Message, messageText, type Session } from "@lathe/protocol";

/** Characters of one attribute; older messages are left out first. */
const maxCharacters = 60_000;

type Part = Readonly<Record<string, unknown>>;

export function inputContent({ prompt, messages }: Session): Readonly<Record<string, string>> {
  const kept: string[] = [];
  let left = maxCharacters;
  for (const message of messages.toReversed()) {
    const text = JSON.stringify(written(message));
    left -= text.length;
    if (left < 0) break;
    kept.unshift(text);
  }
  const system = [{ type: "text", content: prompt.system.slice(0, maxCharacters) }];
  return {
    "gen_ai.system_instructions": JSON.stringify(system),
    "gen_ai.input.messages": `[${kept.join()}]`,
  };
}

export function outputContent(
  parts: readonly AssistantPart[],
  reason = "stop",
): Readonly<Record<string, string>> {
  const message = { role: "assistant", parts: parts.flatMap(partOf), finish_reason: reason };
  return { "gen_ai.output.messages": JSON.stringify([message]) };
}

function written(message: Message): { readonly role: string; readonly parts: readonly Part[] } {
  switch (message.role) {
    case "user":
      return { role: "user", parts: [{ type: "text", content: messageText(message.parts) }] };
    case "assistant":
      return { role: "assistant", parts: message.parts.flatMap(partOf) };
    case "tool": {
      const parts = message.parts.map(({ id, text }) => ({ type: "tool_call_response", id, response: text }));
      return { role: "tool", parts };
    }
  }
}

function partOf(part: AssistantPart): readonly Part[] {
  switch (part.type) {
    case "text":
      return [{ type: "text", content: part.text }];
    case "reasoning":
      return part.text === "" ? [] : [{ type: "reasoning", content: part.text }];
    case "tool-call":
      return [{ type: "tool_call", id: part.id, name: part.tool, arguments: part.input }];
  }
}
