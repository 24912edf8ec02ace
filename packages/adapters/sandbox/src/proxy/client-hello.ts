/**
 * Client hello: reads the requested server name from a TLS client's first bytes (RFC 8446 section 4.1.2, RFC
 * 6066 section 3).
 */
import { canonicalHost, isProblem, type Problem } from "./canonical-host.ts";
import type { Parsed } from "./read-start.ts";

const handshakeRecord = 22;
const clientHello = 1;
const serverNameExtension = 0;
/** A hello has 200 to 2,000 bytes; more than one record's worth is not a hello. */
const maxHello = 16_384;

export interface Hello {
  /** Canonical; absent if the client names none. */
  readonly serverName?: string;
}

/**
 * Consumes no bytes. The hello may span several records. An encrypted client hello is judged by its outer
 * name, the only visible one: it must be the requested host, and the inner one can only reach that host's own
 * front end. Browsers send the extension as a decoy, so its presence means nothing.
 */
export function parseClientHello(bytes: Buffer): Parsed<Hello> {
  const message = handshakeMessage(bytes);
  if (message === "more" || isProblem(message)) return message;
  const names = helloNames(message);
  if (names === undefined) return { problem: "its first bytes are not a valid TLS hello" };
  if (names.length > 1) return { problem: "its TLS hello names more than one host" };
  const [name] = names;
  if (name === undefined) return { value: {}, used: 0 };
  // RFC 6066 requires ASCII; how a server reads other bytes is unknown.
  const host = /[\x80-\xff]/.test(name) ? { problem: "the host is not ASCII" } : canonicalHost(name);
  if (isProblem(host)) return { problem: `of its TLS hello ${host.problem}` };
  return { value: { serverName: host.name }, used: 0 };
}

/** The body of the first handshake message, joined from its records. */
function handshakeMessage(bytes: Buffer): Buffer | "more" | Problem {
  // Filled once: joining anew for each record would be slow with many small ones.
  const joined = Buffer.alloc(bytes.length);
  let have = 0;
  for (let at = 0; ; ) {
    const length = recordLength(bytes, at);
    if (typeof length !== "number") return length;
    have += bytes.copy(joined, have, at + 5, at + 5 + length);
    const message = wholeMessage(joined.subarray(0, have));
    if (message !== "more") return message;
    if (bytes.length < at + 5 + length) return "more";
    at += 5 + length;
  }
}

function recordLength(bytes: Buffer, at: number): number | "more" | Problem {
  const [type, major] = bytes.subarray(at, at + 2);
  if (type !== undefined && type !== handshakeRecord) return { problem: "it does not begin with TLS" };
  if (major !== undefined && major !== 3) return { problem: "it does not begin with TLS" };
  if (bytes.length < at + 5) return "more";
  const length = bytes.readUInt16BE(at + 3);
  if (length === 0 || length > maxHello) return { problem: "it does not begin with TLS" };
  return length;
}

function wholeMessage(bytes: Buffer): Buffer | "more" | Problem {
  if (bytes.length > 0 && bytes[0] !== clientHello) return { problem: "it does not begin with a TLS hello" };
  if (bytes.length < 4) return "more";
  const length = bytes.readUIntBE(1, 3);
  if (length > maxHello) return { problem: "its TLS hello is too long" };
  return bytes.length < 4 + length ? "more" : bytes.subarray(4, 4 + length);
}

/** Undefined if malformed: a wrong length, leftover bytes, or a repeated extension. */
function helloNames(body: Buffer): readonly string[] | undefined {
  const reader = readerOf(body);
  reader.take(2 + 32);
  reader.vector(1);
  reader.vector(2);
  reader.vector(1);
  // A hello without extensions predates server names.
  if (reader.left() === 0) return reader.isBroken() ? undefined : [];
  const extensions = readerOf(reader.vector(2));
  if (reader.isBroken() || reader.left() > 0) return undefined;
  const names: string[] = [];
  while (extensions.left() > 0 && !extensions.isBroken()) {
    const type = extensions.number(2);
    const data = extensions.vector(2);
    if (type !== serverNameExtension) continue;
    const found = serverNames(data);
    if (!found) return undefined;
    names.push(...found);
  }
  return extensions.isBroken() ? undefined : names;
}

function serverNames(data: Buffer): readonly string[] | undefined {
  const outer = readerOf(data);
  const list = readerOf(outer.vector(2));
  const names: string[] = [];
  while (list.left() > 0 && !list.isBroken()) {
    const isHostName = list.number(1) === 0;
    const name = list.vector(2).toString("latin1");
    if (!isHostName) return undefined;
    names.push(name);
  }
  return outer.isBroken() || outer.left() > 0 || list.isBroken() || names.length === 0 ? undefined : names;
}

interface Reader {
  take(length: number): Buffer;
  number(bytes: number): number;
  /** The bytes after a length field of this size. */
  vector(lengthBytes: number): Buffer;
  left(): number;
  isBroken(): boolean;
}

function readerOf(bytes: Buffer): Reader {
  let at = 0;
  let broken = false;
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) broken = true;
    const piece = broken ? Buffer.alloc(0) : bytes.subarray(at, at + length);
    at += piece.length;
    return piece;
  };
  const number = (width: number): number => {
    const piece = take(width);
    return piece.length === 0 ? 0 : piece.readUIntBE(0, width);
  };
  return {
    take,
    number,
    vector: (width) => take(number(width)),
    left: () => bytes.length - at,
    isBroken: () => broken,
  };
}
