/** Starts searches so that ripgrep reads nothing outside the tree it searches. */
import type { ConfineReads } from "@lathe/sandbox/confine-reads";
import { cacheFolder, type Env } from "@lathe/system";

type Opened = Promise<ConfineReads | "unsupported" | undefined>;

/** By cache folder, which contains the launcher: two users of one process have one each. */
const openedIn = new Map<string, Opened>();

function openIn(folder: string): Opened {
  const opening = import("@lathe/sandbox/confine-reads").then(({ openConfineReads }) =>
    openConfineReads(folder),
  );
  openedIn.set(folder, opening);
  return opening;
}

/** One per cache folder. If the system cannot confine searches, ripgrep runs unconfined. */
export function confinedReads(
  env: Env,
): (paths: readonly string[], program: string) => Promise<readonly string[]> {
  return async (paths, program) => {
    const folder = cacheFolder(env);
    const opening = openedIn.get(folder) ?? openIn(folder);
    const confine = await opening;
    // The launcher may exist at the next search.
    if (confine === undefined && openedIn.get(folder) === opening) openedIn.delete(folder);
    return typeof confine === "function" ? confine(paths, program) : [program];
  };
}
