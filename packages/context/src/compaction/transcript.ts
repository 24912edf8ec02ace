/** Transcript: a conversation as plain text, for a model that is to sum it up. */
import { headOf, type Message, tailOf } from "@lathe/protocol";

/** Characters of a call's arguments. */
const inputChars = 300;
/** Characters of one result, the most first: as many as the whole has room for. */
const resultRooms = [1_600, 600, 200, 0];

/** At most `chars` long; where that is too little the oldest goes first. */
export function transcriptOf(messages: readonly Message[], chars: number): string {
  for (const room of resultRooms) {
    const text = messages.map((message) => messageText(message, room)).join("\n\n");
    if (text.length <= chars) return text;
    if (room === 0) return `[... the beginning is left out]\n${tailOf(text, Math.max(0, chars - 40))}`;
  }
  return "";
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
