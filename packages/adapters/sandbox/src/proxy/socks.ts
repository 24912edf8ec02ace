/** The part of SOCKS5 (RFC 1928) that the proxy speaks: no authentication, CONNECT, names and addresses. */
import { canonicalHost, type Endpoint, isProblem, type Problem } from "./canonical-host.ts";
import type { Parsed } from "./read-start.ts";

export const socksVersion = 5;

/** Reply codes. */
export const socksReply = {
  ok: 0,
  generalFailure: 1,
  notAllowed: 2,
  hostUnreachable: 4,
  commandUnsupported: 7,
  addressUnsupported: 8,
} as const;

/** Whether the client accepts no authentication. */
export function parseGreeting(bytes: Buffer): Parsed<{ readonly acceptable: boolean }> {
  const [version, count = 0] = bytes;
  if (version !== undefined && version !== socksVersion) return { problem: "it is not SOCKS5" };
  if (bytes.length < 2 || bytes.length < 2 + count) return "more";
  return { value: { acceptable: bytes.subarray(2, 2 + count).includes(0) }, used: 2 + count };
}

export function greetingReply(acceptable: boolean): Buffer {
  return Buffer.from([socksVersion, acceptable ? 0 : 0xff]);
}

export interface SocksRequest {
  readonly target: Endpoint | Problem;
  /** The reply to a request without a valid target. */
  readonly refusal: number;
}

export function parseSocksRequest(bytes: Buffer): Parsed<SocksRequest> {
  const [version, command, reserved, type, first = 0] = bytes;
  if (version !== undefined && version !== socksVersion) return { problem: "it is not SOCKS5" };
  if (bytes.length < 5) return "more";
  const refused = (problem: string, refusal: number): Parsed<SocksRequest> => ({
    value: { target: { problem }, refusal },
    used: bytes.length,
  });
  if (reserved !== 0) return refused("its request is malformed", socksReply.generalFailure);
  if (command !== 1) return refused("only CONNECT is spoken here", socksReply.commandUnsupported);
  const length = addressLength(type, first);
  if (length === undefined) return refused("its address is of no known type", socksReply.addressUnsupported);
  const end = 4 + length;
  if (bytes.length < end + 2) return "more";
  const address = bytes.subarray(4, end);
  const target = endpointOf(spelledAddress(type, address), bytes.readUInt16BE(end));
  return { value: { target, refusal: socksReply.notAllowed }, used: end + 2 };
}

function addressLength(type: number | undefined, first: number): number | undefined {
  if (type === 1) return 4;
  if (type === 3) return 1 + first;
  return type === 4 ? 16 : undefined;
}

function spelledAddress(type: number | undefined, address: Buffer): string | undefined {
  if (type === 1) return address.join(".");
  if (type === 4) return address.toString("hex").replace(/(.{4})(?=.)/g, "$1:");
  // Names beyond ASCII arrive as UTF-8; other bytes have no agreed meaning.
  const name = address.subarray(1);
  const text = name.toString("utf8");
  return Buffer.from(text).equals(name) ? text : undefined;
}

function endpointOf(spelling: string | undefined, port: number): Endpoint | Problem {
  if (spelling === undefined) return { problem: "the host is not valid UTF-8" };
  const host = canonicalHost(spelling);
  if (isProblem(host)) return host;
  return port === 0 ? { problem: "the port is missing or not valid" } : { host, port };
}

export function socksAnswer(code: number): Buffer {
  // The bound address means nothing to a client without a network.
  return Buffer.from([socksVersion, code, 0, 1, 0, 0, 0, 0, 0, 0]);
}
