/** Excess: whether a request must be shortened before it is sent. */
import {
  type Message,
  type ModelInfo,
  type ModelRequest,
  maxImageChars,
  maxImages,
  type Session,
} from "@lathe/protocol";
import { maxTokens } from "./compaction/room.ts";
import { profileFor } from "./profiles/profile-of.ts";

export interface Measured {
  readonly session: Pick<Session, "settings">;
  readonly info: ModelInfo;
  readonly request: ModelRequest;
  /** Tokens. */
  readonly input: number;
}

export interface ContextExcess {
  readonly why: "window" | "tidy" | "images";
  readonly tokens: number;
  readonly most: number;
}

/** An excess that prevents sending, or makes it unwise. */
export function contextExcess({ session, info, request, input }: Measured): ContextExcess | undefined {
  const most = maxTokens(info, session);
  if (input > most) return { why: "window", tokens: input, most };
  return hasTooManyImages(request.messages) ? { why: "images", tokens: input, most } : undefined;
}

/**
 * An excess that only costs money, if old results can be shortened; undefined if the conversation is short
 * anyway.
 */
export function shortenableExcess({ session, info, input }: Measured): ContextExcess | undefined {
  const most = profileFor(session, info.id).tidyAbove;
  return input > most ? { why: "tidy", tokens: input, most } : undefined;
}

const imageSizes = new WeakMap<Message, { readonly count: number; readonly chars: number }>();

function hasTooManyImages(messages: readonly Message[]): boolean {
  const sizes = messages.map(imageSize);
  const count = sizes.reduce((sum, size) => sum + size.count, 0);
  return count > maxImages || sizes.reduce((sum, size) => sum + size.chars, 0) > maxImageChars;
}

function imageSize(message: Message): { readonly count: number; readonly chars: number } {
  const known = imageSizes.get(message);
  if (known) return known;
  const images = message.parts.flatMap((part) =>
    part.type === "image" ? [part] : part.type === "tool-result" ? (part.images ?? []) : [],
  );
  const size = { count: images.length, chars: images.reduce((sum, { base64 }) => sum + base64.length, 0) };
  imageSizes.set(message, size);
  return size;
}
