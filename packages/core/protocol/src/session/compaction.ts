/** Compaction: the conversation as the model sees it becomes shorter; the log keeps all of it. */
import * as v from "valibot";
import type { Failure } from "../failure.ts";
import type { Message, ToolResultPart } from "../message.ts";

export const compactionWhys = ["window", "tidy", "images", "asked", "overflow"] as const;
/**
 * It fills too much of the window; old results make it dearer than it has to be; it has too many images; a person asked;
 * the provider refused it as too long.
 */
export type CompactionWhy = (typeof compactionWhys)[number];

/** What is to be done before the next attempt. */
export interface CompactionRequest {
  readonly why: CompactionWhy;
  /** What a summary should keep above all, in the user's words. */
  readonly focus?: string;
  /** The most tokens that the next request may have, where it has more. */
  readonly most?: number;
  /** An attempt at a summary that is open. */
  readonly attempt?: { readonly id: string; readonly model: string; readonly startedAt: number };
  /** Attempts at a summary that failed, and when the next one is due; in milliseconds since the epoch. */
  readonly failed?: { readonly times: number; readonly retryAt: number; readonly why: string };
}

/** A part of a message that reads so from here on; it has no images any more. */
export interface ShortenedPart {
  /** Both counted from 0. */
  readonly message: number;
  readonly part: number;
  readonly text: string;
  /** Where the whole text is. */
  readonly blob?: string;
}

/** The first `messages` messages became one, with this text. */
export interface Summary {
  readonly messages: number;
  readonly text: string;
}

/** How many tokens the next request has before and after, as estimated. */
export interface TokensFreed {
  readonly why: CompactionWhy;
  readonly before: number;
  readonly after: number;
  /** The most that it may have, where it had more. */
  readonly most?: number;
  /** What a model that was asked for a summary gave, if only why there is none. */
  readonly summary?: "written" | Failure;
}

/** The conversation before it was made shorter, for going back. */
export interface Compacted {
  readonly seq: number;
  readonly messages: readonly Message[];
}

export const whySchema: v.GenericSchema<unknown, CompactionWhy> = v.picklist(compactionWhys);

/** The part of the tokens that a compaction must free: one that frees less would soon be due again. */
const leastFreed = 0.4;

export function freesEnough({ before, after }: Pick<TokensFreed, "before" | "after">): boolean {
  return before > 0 && before - after >= leastFreed * before;
}

/** *Contract:* pure; places that are not there change nothing. */
export function shortenParts(
  messages: readonly Message[],
  { parts, summary }: { readonly parts: readonly ShortenedPart[]; readonly summary?: Summary },
): readonly Message[] {
  const byMessage = Map.groupBy(parts, ({ message }) => message);
  const short = messages.map((message, at) => {
    const own = byMessage.get(at);
    return own ? withParts(message, own) : message;
  });
  if (!summary) return short;
  return [{ role: "user", parts: [{ type: "text", text: summary.text }] }, ...short.slice(summary.messages)];
}

function withParts(message: Message, own: readonly ShortenedPart[]): Message {
  const shortOf = (at: number): ShortenedPart | undefined => own.find(({ part }) => part === at);
  switch (message.role) {
    case "tool":
      return { ...message, parts: message.parts.map((part, at) => shortPart(part, shortOf(at))) };
    case "user":
      return {
        ...message,
        parts: message.parts.map((part, at) => {
          const short = shortOf(at);
          return short ? { type: "text", text: short.text } : part;
        }),
      };
    // What a model said and called stays as it is: its provider may have signed it.
    case "assistant":
      return message;
  }
}

function shortPart(part: ToolResultPart, short: ShortenedPart | undefined): ToolResultPart {
  if (!short) return part;
  const { images: _, ...rest } = part;
  return { ...rest, text: short.text, short: true, ...(short.blob !== undefined && { blob: short.blob }) };
}
