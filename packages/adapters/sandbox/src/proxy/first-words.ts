/** First words: which side of a tunnel speaks first, and whether it speaks TLS, HTTP or something else. */
import type { Duplex } from "node:stream";
import { isProblem, type Problem } from "./canonical-host.ts";
import { type Parsed, readStart } from "./read-start.ts";

/** `server`: the server spoke first, or one side ended without sending anything. */
export type SpokenProtocol = "tls" | "http" | "other" | "server";

export interface SpeechLimits {
  readonly maxBytes: number;
  readonly ms: number;
}

/** *Contract:* consumes no bytes of the stream. */
export async function clientSpeaks(client: Duplex, limits: SpeechLimits): Promise<SpokenProtocol | Problem> {
  const first = await readStart(client, parseSpeech, limits);
  return isProblem(first) ? first : first.value;
}

/** Waits `idleMs` for either side, then within the limits for the rest of the client's first line. */
export async function eitherSpeaks(
  client: Duplex,
  upstream: Duplex,
  { idleMs, ...limits }: SpeechLimits & { readonly idleMs: number },
): Promise<SpokenProtocol | Problem> {
  const over = new AbortController();
  const waiting = { maxBytes: 1, ms: idleMs, signal: over.signal };
  const client1 = readStart(client, anyByte, waiting).then((heard) => ({ who: "client", heard }) as const);
  const server1 = readStart(upstream, anyByte, waiting).then((heard) => ({ who: "server", heard }) as const);
  const { who, heard } = await Promise.race([client1, server1]);
  over.abort();
  await Promise.all([client1, server1]);
  return who === "client" && !isProblem(heard) ? clientSpeaks(client, limits) : "server";
}

function anyByte(): Parsed<true> {
  return { value: true, used: 0 };
}

/**
 * HTTP is identified by its first line, which a server does not answer until it is complete: so wait for it
 * if the first byte may begin one. A line with a NUL or a byte beyond ASCII is not HTTP.
 */
function parseSpeech(bytes: Buffer): Parsed<SpokenProtocol> {
  const spoken = speech(bytes);
  return spoken === "more" ? spoken : { value: spoken, used: 0 };
}

function speech(bytes: Buffer): SpokenProtocol | "more" {
  const [first = 0] = bytes;
  if (first === 22) return "tls";
  if (!/^[A-Za-z\s]/.test(String.fromCharCode(first))) return "other";
  const text = bytes.toString("latin1").trimStart();
  const end = text.indexOf("\n");
  const line = end < 0 ? text : text.slice(0, end);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  if (/[\x00\x80-\xff]/.test(line)) return "other";
  if (end < 0) return "more";
  return /\sHTTP\/\d/i.test(line) ? "http" : "other";
}
