/** The host that a word names; the names of this machine do not count. */
import type { Effect } from "@lathe/protocol";

const local = /^(?:(?:[\w-]+\.)*localhost|127(?:\.\d+){1,3}|\[::1\]|::1|0\.0\.0\.0|\[::\]|0)$/u;
const filledIn = /[$`\0]/u;
const scheme = /^(?:\w+\+)?([a-z][a-z0-9.-]*):\/\//iu;
const localSchemes = /^(?:file|unix|data|about|sqlite\d?|jar|npm|workspace)$/iu;

/**
 * At most one effect, on `host` or `host:port`; if only the shell can expand the word, on the word itself.
 */
export function namedHost(text: string): readonly Effect[] {
  const found = scheme.exec(text);
  if (found && localSchemes.test(found[1] ?? "")) return [];
  const rest = found
    ? text.slice(found[0].length).replace(/^[^/?#@\s]*@/u, "")
    : text.replace(/^\/\//u, "").replace(/^[\w.+-]+@/u, "");
  const [, host = "", port] = /^(\[[^\]]*\]|[^/:?#\s,]*)(?::(\d+))?/u.exec(rest) ?? [];
  if (filledIn.test(host)) return [{ kind: "network", target: text, expansion: "unknown" }];
  const name = host.toLowerCase();
  if (name === "" || local.test(name.replace(/\.$/u, ""))) return [];
  return [{ kind: "network", target: port === undefined ? name : `${name}:${port}`, traits: ["named"] }];
}

/** Whether the word is an address with a scheme, or in the form of scp and git. */
export function isAddress(text: string): boolean {
  return scheme.test(text) || /^[\w.-]+@[\w.-]+:/u.test(text);
}
