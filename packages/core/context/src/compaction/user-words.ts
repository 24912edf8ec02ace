/** User words: everything the user wrote since the session began, copied word for word into a summary. */
import { isNotice, type Message, messageText, type Session } from "@lathe/protocol";
import { textTokens } from "../assemble.ts";
import { inputsOf } from "./old-parts.ts";

interface Said {
  readonly text: string;
  /** The call that the words answer. */
  readonly to?: string;
}

/** Minimum tokens that a message keeps if there is too much; with less it could not be understood. */
const leastTokens = 60;
/** Maximum characters shown of the answered call. */
const callChars = 600;

/**
 * In about this many tokens: long messages lose their middle; if that is not enough, the oldest are dropped,
 * never the first.
 */
export function wordsText(session: Pick<Session, "messages" | "compacted">, tokens: number): string {
  const { words, left } = fitted(wordsOf(session), tokens);
  if (words.length === 0) return "";
  const [first, ...later] = words.map(saidText);
  const gap = left > 0 ? [`[... ${left} messages left out ...]`] : [];
  return ["What the user said, word for word, oldest first:", first, ...gap, ...later].join("\n");
}

function saidText({ text, to }: Said): string {
  return `<said>\n${to === undefined ? "" : `[${to}]\n`}${text}\n</said>`;
}

/** Includes messages replaced by earlier summaries. A repeated message appears twice. */
function wordsOf({ messages, compacted }: Pick<Session, "messages" | "compacted">): readonly Said[] {
  const all = [...compacted.map((one) => one.messages), messages].flat();
  const inputs = inputsOf(all);
  const seen = new Set<unknown>();
  return all.flatMap((message): readonly Said[] => {
    const keys = keysOf(message);
    const isOld = keys.some((key) => seen.has(key));
    for (const key of keys) seen.add(key);
    return isOld ? [] : saidIn(message, inputs);
  });
}

/** The parts of a message that compactions never change. */
function keysOf({ role, parts }: Message): readonly unknown[] {
  return role === "tool" ? parts.map(({ id }) => id) : parts;
}

function saidIn({ role, parts }: Message, inputs: ReadonlyMap<string, string>): readonly Said[] {
  if (role === "assistant") return [];
  if (role === "user") {
    const text = messageText(parts);
    return text === "" || isNotice(text) ? [] : [{ text }];
  }
  return parts.flatMap(({ said: text, failed, tool, id }) => {
    if (text === undefined) return [];
    const input = inputs.get(id) ?? "";
    const shown = input.length > callChars ? `${input.slice(0, callChars)}...` : input;
    return [{ text, to: `${failed ? "refusing" : "answering"} ${tool} ${shown}` }];
  });
}

interface Fitted {
  readonly words: readonly Said[];
  /** Number of messages omitted after the first. */
  readonly left: number;
}

function fitted(all: readonly Said[], tokens: number): Fitted {
  for (let left = 0; ; left++) {
    const words = all.toSpliced(1, left);
    const most = maxOfEach(
      words.map((one) => textTokens(saidText(one))),
      tokens,
    );
    if (most < leastTokens && words.length > 2) continue;
    return { words: words.map((one) => ({ ...one, text: shortened(one.text, most) })), left };
  }
}

/**
 * Tokens per message so that the total is at most `tokens`: short messages leave their share to long ones.
 */
function maxOfEach(sizes: readonly number[], tokens: number): number {
  let left = tokens;
  for (const [at, size] of sizes.toSorted((a, b) => a - b).entries()) {
    const share = left / (sizes.length - at);
    if (size > share) return share;
    left -= size;
  }
  return Number.POSITIVE_INFINITY;
}

function shortened(text: string, tokens: number): string {
  const size = textTokens(text);
  if (size <= tokens) return text;
  const kept = Math.floor((text.length * tokens) / size);
  const head = text.slice(0, Math.ceil(kept * 0.6));
  const tail = text.slice(text.length - Math.floor(kept * 0.4));
  // Either cut may split a character.
  return `${head}\n[... ${text.length - kept} characters left out ...]\n${tail}`.toWellFormed();
}
