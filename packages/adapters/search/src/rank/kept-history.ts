/** Kept history: what the commits up to a head say, read once, kept with the segments, and added to as commits come. */
import type { Git } from "@lathe/protocol";
import type { SegmentCache } from "../segments/segment-cache.ts";
import { type Commit, type CommitRange, readCommits } from "./git-log.ts";
import { decodeHistory, encodeHistory, type HistoryPart, historyPart } from "./history.ts";

/** Parts from which on all is read again, into one. */
const manyParts = 8;
const name = "history";

export class KeptHistory {
  readonly #root: string;
  readonly #cacheNow: () => Pick<SegmentCache, "read" | "write">;
  readonly #git: Git | undefined;
  #known: { readonly head: string; readonly parts: readonly HistoryPart[] } | undefined;
  #reading: Promise<void> | undefined;

  /** `cacheNow`: it may become another one. Without git there is only what was kept. */
  constructor(root: string, cacheNow: () => Pick<SegmentCache, "read" | "write">, git?: Git) {
    this.#root = root;
    this.#cacheNow = cacheNow;
    this.#git = git;
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

  async #commits(range: CommitRange): Promise<readonly Commit[] | undefined> {
    return this.#git && readCommits(this.#git, this.#root, range);
  }

  async #read(head: string): Promise<void> {
    const kept = this.#known ?? decodeHistory(this.#cacheNow().read(name) ?? new Uint8Array(0));
    // After a git failure there is nothing to continue from.
    if (kept && kept.parts.length > 0 && kept.parts.length < manyParts) {
      const newer = kept.head === head ? [] : await this.#commits({ head, since: kept.head });
      if (newer) {
        const parts = newer.length > 0 ? [historyPart(newer), ...kept.parts] : kept.parts;
        this.#known = { head, parts };
        return;
      }
    }
    const commits = await this.#commits({ head });
    const parts = commits ? [historyPart(commits)] : [];
    this.#known = { head, parts };
    if (commits) this.#cacheNow().write(name, encodeHistory(head, parts));
  }
}
