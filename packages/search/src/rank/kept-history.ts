/** Kept history: what the commits up to a head say, read once, kept with the segments, and added to as commits come. */
import type { SegmentCache } from "../segments/segment-cache.ts";
import { readCommits } from "./git-log.ts";
import { decodeHistory, encodeHistory, type HistoryPart, historyPart } from "./history.ts";

/** Parts from which on all is read again, into one. */
const manyParts = 8;
const name = "history";

export class KeptHistory {
  readonly #root: string;
  readonly #cacheNow: () => Pick<SegmentCache, "read" | "write">;
  readonly #env: NodeJS.ProcessEnv;
  #known: { readonly head: string; readonly parts: readonly HistoryPart[] } | undefined;
  #reading: Promise<void> | undefined;

  /** `cacheNow`: it may become another one. */
  constructor(root: string, cacheNow: () => Pick<SegmentCache, "read" | "write">, env?: NodeJS.ProcessEnv) {
    this.#root = root;
    this.#cacheNow = cacheNow;
    this.#env = { ...env, GIT_OPTIONAL_LOCKS: "0", GIT_NO_LAZY_FETCH: "1" };
  }

  /** Newest first; none where git says nothing. Calls that wait for the same reading share it. */
  async of(head: string): Promise<readonly HistoryPart[]> {
    if (this.#known?.head !== head) {
      this.#reading ??= this.#read(head).finally(() => {
        this.#reading = undefined;
      });
      await this.#reading;
    }
    return this.#known?.parts ?? [];
  }

  async #read(head: string): Promise<void> {
    const env = this.#env;
    const kept = this.#known ?? decodeHistory(this.#cacheNow().read(name) ?? new Uint8Array(0));
    // After a git that failed there is nothing to go on from.
    if (kept && kept.parts.length > 0 && kept.parts.length < manyParts) {
      const newer = kept.head === head ? [] : await readCommits(this.#root, { since: kept.head, env });
      if (newer) {
        const parts = newer.length > 0 ? [historyPart(newer), ...kept.parts] : kept.parts;
        this.#known = { head, parts };
        return;
      }
    }
    const commits = await readCommits(this.#root, { env });
    const parts = commits ? [historyPart(commits)] : [];
    this.#known = { head, parts };
    if (commits) this.#cacheNow().write(name, encodeHistory(head, parts));
  }
}
