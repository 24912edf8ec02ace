/** How searches are started, so that ripgrep reads nothing outside the tree it searches. */
import type { ConfineReads } from "@lathe/sandbox/confine-reads";
import { cacheFolder, type Env } from "@lathe/system";

let opened: Promise<ConfineReads | "unsupported" | undefined> | undefined;

/** The same for all searches of this process. Where the system cannot confine them, ripgrep runs as it is. */
export function confinedReads(
  env: Env,
): (paths: readonly string[], program: string) => Promise<readonly string[]> {
  return async (paths, program) => {
    opened ??= import("@lathe/sandbox/confine-reads").then(({ openConfineReads }) =>
      openConfineReads(cacheFolder(env)),
    );
    const confine = await opened;
    // The launcher may be there at the next search.
    if (confine === undefined) opened = undefined;
    return typeof confine === "function" ? confine(paths, program) : [program];
  };
}
