/** The reads that a command's words may mean, as separate effects. */
import type { Effect } from "@lathe/protocol";
import { hasWildcard, unescapeGlob } from "../globs/shell-glob.ts";

export function namedReads({ names = [] }: Effect): readonly Effect[] {
  return names.map((name) =>
    hasWildcard(name)
      ? { kind: "read", target: name, expansion: "glob" }
      : { kind: "read", target: unescapeGlob(name) },
  );
}
