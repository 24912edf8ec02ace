/** Transcript: a conversation as plain text, for the model that summarizes it. */
import { headOf, type Message, tailOf } from "@lathe/protocol";
import { textTokens } from "../assemble.ts";

/** Characters of a call's arguments. */
const inputChars = 300;
/** Characters of one result, largest first: the first value with which the whole fits is used. */
const resultRooms = [1_600, 600, 200, 0];

/** At most `tokens`; if that is too little, the oldest part is dropped. */
export function transcriptOf(messages: readonly Message[], tokens: number): string {
  let text = "";
  for (const room of resultRooms) {
    text = messages.map((message) => messageText(message, room)).join("\n\n");
    if (textTokens(text) <= tokens) return text;
  }
  const note = "[... the beginning is left out]\n";
  return `${note}${endOf(text, tokens - textTokens(note))}`;
}

/** The end may have more tokens per character than the whole. */
function endOf(text: string, tokens: number): string {
  let end = text;
  for (let size = textTokens(end); size > tokens; size = textTokens(end)) {
    const kept = Math.floor((end.length * Math.max(0, tokens)) / size);
    end = kept > 0 ? tailOf(end, kept) : "";
  }
  return end;
}

function messageText({ role, parts }: Message, room: number): string {
  return parts
    .map((part) => partText(part, role, room))
    .filter((text) => text !== "")
    .join("\n");
}

function partText(part: Message["parts"][number], role: Message["role"], room: number): string {
  switch (part.type) {
    case "text":
      return `${role === "user" ? "USER" : "AGENT"}: ${part.text}`;
    case "image":
      return "USER: [an image]";
    case "reasoning":
      return "";
    case "tool-call":
      return `CALL ${part.tool} ${shortOf(part.input, inputChars)}`;
    case "tool-result":
      return room === 0 ? "" : `RESULT${part.failed ? " (failed)" : ""}: ${shortOf(part.text, room)}`;
  }
}

function shortOf(text: string, chars: number): string {
  if (text.length <= chars) return text;
  return `${headOf(text, Math.floor(chars * 0.6))} [...] ${tailOf(text, Math.floor(chars * 0.4))}`;
}
