/** Reports new names in a folder: at once if the system reports changes, else by polling. */
import type { Files } from "./files.ts";

export interface Watched {
  readonly files: Files;
  readonly folder: string;
  readonly names: () => readonly string[];
}

/** Below the 250 ms that the inbox port promises. */
const pollMs = 150;

/**
 * Calls back if `names` has a name that was missing at the last look. The first look happens before this
 * returns, and calls back afterwards. Polls besides watching: a watch misses writes of other hosts, and may
 * be refused.
 */
export function watchNames(watched: Watched, listener: () => void): { look: () => void; stop: () => void } {
  let seen: ReadonlySet<string> = new Set();
  let isStopped = false;
  const isNews = (): boolean => {
    const names = namesOf(watched);
    const hasNew = names.some((name) => !seen.has(name));
    seen = new Set(names);
    return hasNew;
  };
  const look = (): void => {
    if (!isStopped && isNews()) listener();
  };
  const timer = setInterval(look, pollMs);
  timer.unref();
  const stopWatching = watchFolder(watched, look);
  if (isNews()) queueMicrotask(() => isStopped || listener());
  return {
    look,
    stop() {
      isStopped = true;
      clearInterval(timer);
      stopWatching();
    },
  };
}

function namesOf({ names }: Watched): readonly string[] {
  try {
    return names();
  } catch {
    return [];
  }
}

function watchFolder({ files, folder }: Watched, look: () => void): () => void {
  try {
    files.makeFolder(folder);
    return files.watch(folder, look);
  } catch {
    return () => undefined;
  }
}
