/** What the wire server needs to know of one provider's wire: how its answers are written and its requests read. */
import type {
  AssistantPart,
  FinishReason,
  Message,
  ToolResultPart,
  Usage,
  UserMessage,
} from "@lathe/protocol";

/** One server-sent event and what it is part of, so that faults can hit a chosen place. */
export interface Frame {
  readonly text: string;
  readonly of: "start" | "text" | "reasoning" | "tool-call" | "end";
}

/** A complete answer, as a wire writes it. */
export interface WireReply {
  readonly model: string;
  readonly parts: readonly AssistantPart[];
  readonly reason: FinishReason;
  readonly usage: Usage | undefined;
  /** Tools that the request takes plain text for. */
  readonly custom: readonly string[];
}

/** A request, read back into neutral form as far as the wire carries it. */
export interface WireRequest {
  readonly system: string;
  readonly tools: readonly string[];
  readonly messages: readonly Message[];
}

/** An answer that the server gave earlier. */
export interface Issued {
  readonly model: string;
  readonly parts: readonly AssistantPart[];
}

export interface StrictContext {
  readonly model: string;
  /** Over this wire, by whatever model, oldest first. */
  readonly issued: readonly Issued[];
}

/** *Contract:* why the provider would refuse the request, in its order; nothing when it would take it. */
export type StrictCheck = (body: Json, given: StrictContext) => Iterable<string>;

export interface WireFormat {
  readonly path: RegExp;
  write(reply: WireReply): readonly Frame[];
  read(body: Json): WireRequest;
  /** What the provider would refuse. */
  readonly strict: StrictCheck;
  /** An event that says nothing. */
  readonly ping: string;
  /** An event of a type that no client knows. */
  readonly unknown: string;
  /** An event that is cut in the middle of its JSON. */
  readonly broken: string;
  /** The provider's error inside a stream that began well. */
  readonly overloaded: string;
  /** The same with a code of the provider's. */
  errorEvent(code: string): string;
  errorBody(status: number, message: string): unknown;
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of foreign wires; a wrong shape fails the test that reads it.
export type Json = any;

export function event(data: unknown, name?: string): string {
  return `${name ? `event: ${name}\n` : ""}data: ${JSON.stringify(data)}\n\n`;
}

/** Pieces of about `size` characters that never part a surrogate pair: JSON cannot carry half of one. */
export function pieces(text: string, size: number): readonly string[] {
  const characters = Array.from(text);
  const count = Math.ceil(characters.length / size);
  return Array.from({ length: count }, (_, at) => characters.slice(at * size, (at + 1) * size).join(""));
}

/** A result that shows images beside its text; the wire does not carry its tool. */
export function shownResult(id: string, parts: UserMessage["parts"]): ToolResultPart {
  const images = parts.filter((part) => part.type === "image");
  const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  return { type: "tool-result", id, tool: "", text, failed: false, images };
}

/** The provider's own value out of a signature, which is metadata as JSON text. */
export function signed(part: AssistantPart, provider: string): Json {
  const signature = part.type === "text" ? undefined : part.signature;
  return signature === undefined ? {} : (JSON.parse(signature)[provider] ?? {});
}
