/** Names that programs looked for by themselves, where there is nobody who would know one. */
import type { Effect } from "@lathe/protocol";

/** Names that are nobody's. */
const reserved = /\.(?:example|internal|invalid|local|localhost|onion|test)$/iu;

/**
 * Node's own client does not ask the proxy where nothing can be reached: then its error says which name it looked for,
 * and there is nobody in the sandbox who would know one.
 */
export function unresolved(output: string): readonly Effect[] {
  const names = [...output.matchAll(/\bgetaddrinfo (?:ENOTFOUND|EAI_AGAIN) ((?:[\w-]+\.)+[a-z]{2,})\b/giu)];
  const hosts = new Set(
    names.map(([, name = ""]) => name.toLowerCase()).filter((name) => !reserved.test(name)),
  );
  return [...hosts].map((target) => ({ kind: "network", target }));
}
