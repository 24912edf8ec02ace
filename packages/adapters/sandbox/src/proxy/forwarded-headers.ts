/** Forwarded headers: those of a message that go on to the other side; what belongs to one connection stays behind. */
import type { IncomingMessage } from "node:http";

/** RFC 9110 section 7.6.1, and what the proxy itself answers or writes. */
const ofConnection: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "upgrade",
  "expect",
  "host",
]);
/** What a message may not declare to belong to the connection. */
const kept: ReadonlySet<string> = new Set(["content-length", "transfer-encoding", "host"]);

export function forwardedHeaders({
  headersDistinct,
  rawHeaders,
}: IncomingMessage): readonly (readonly [string, string[]])[] {
  const named = (headersDistinct.connection ?? []).flatMap((value) => value.toLowerCase().split(/[\s,]+/));
  const left = new Set([...ofConnection, ...named.filter((name) => !kept.has(name))]);
  const found = new Map<string, [string, string[]]>();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = "", value = ""] = rawHeaders.slice(at, at + 2);
    const key = name.toLowerCase();
    if (left.has(key)) continue;
    const entry = found.get(key);
    if (entry) entry[1].push(value);
    else found.set(key, [name, [value]]);
  }
  return [...found.values()];
}
