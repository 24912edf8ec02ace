/**
 * Successful responses that are no event stream: a web page or plain JSON from an intermediary, or a wrong
 * address.
 */

/** Maximum bytes of such a response to read. */
const maxBytes = 16_384;

const errorName = "NotAStream";

/** Describes the actual response; raised in place of the stream. */
export interface NotAStream extends Error {
  readonly kind: "page" | "json";
  readonly statusCode: number;
  readonly responseBody: string;
}

export interface Sniffer {
  /** *Contract:* processes bytes as they arrive; returns the error once the content is known. */
  take(chunk: Uint8Array): "stream" | "wait" | NotAStream;
  /** Call at the end of the bytes. */
  end(): NotAStream | undefined;
}

/** No line of an event stream begins with `<`, `{` or `[`: the first byte that is no white space decides. */
export function createSniffer(status: number): Sniffer {
  let kind: NotAStream["kind"] | "stream" | undefined;
  const read: Uint8Array[] = [];
  let bytes = 0;
  const raised = (): NotAStream => {
    const error = new Error("The answer is not an event stream");
    return Object.assign(error, {
      name: errorName,
      kind: kind === "page" ? ("page" as const) : ("json" as const),
      statusCode: status,
      responseBody: Buffer.concat(read).toString("utf8"),
    });
  };
  return {
    take(chunk) {
      if (kind === "stream") return "stream";
      read.push(chunk);
      bytes += chunk.length;
      kind ??= kindOf(Buffer.from(chunk).toString("latin1"));
      if (kind === "stream") return "stream";
      return kind !== undefined && bytes >= maxBytes ? raised() : "wait";
    },
    end: () => (kind === "page" || kind === "json" ? raised() : undefined),
  };
}

function kindOf(text: string): NotAStream["kind"] | "stream" | undefined {
  const first = text.trimStart().charAt(0);
  if (first === "") return undefined;
  if (first === "<") return "page";
  return first === "{" || first === "[" ? "json" : "stream";
}

export function isNotAStream(value: unknown): value is NotAStream {
  return value instanceof Error && value.name === errorName;
}

/** The provider packages wrap read errors in their own errors. */
export function notAStreamIn(error: unknown): NotAStream | undefined {
  let current = error;
  for (let depth = 0; depth < 8 && current instanceof Error; depth++) {
    if (isNotAStream(current)) return current;
    current = current.cause;
  }
  return undefined;
}
