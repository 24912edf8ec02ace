/** The host that a word names; hosts of this machine itself count as none. */
import type { Effect } from "@lathe/protocol";

const local = /^(?:(?:[\w-]+\.)*localhost|127(?:\.\d+){1,3}|\[::1\]|::1|0\.0\.0\.0|\[::\]|0)$/u;
const filledIn = /[$`\0]/u;
const scheme = /^(?:\w+\+)?([a-z][a-z0-9.-]*):\/\//iu;
const localSchemes = /^(?:file|unix|data|about|sqlite\d?|jar|npm|workspace)$/iu;

/** At most one effect, on `host` or `host:port`; of what only the shell can tell, on the word itself. */
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

/** Whether the word is an address with a scheme, or one as scp and git write it. */
export function isAddress(text: string): boolean {
  return scheme.test(text) || /^[\w.-]+@[\w.-]+:/u.test(text);
}
