/** Followed tree: the searched files of a tree as they are on the disk now, by watching changes. */
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import type { Place } from "../place.ts";
import { isFresh, isSameStamp } from "../tree/file-stamp.ts";
import { repositoryOf } from "../tree/git-index.ts";
import { OutsideRules, speaksOfIgnoring } from "../tree/outside-rules.ts";
import { type FileLook, isFolder, listFiles, lookAt } from "./look-at-tree.ts";
import { Tree } from "./tree.ts";
import { isWatchable, TreeWatch } from "./tree-watch.ts";

export interface FollowOptions {
  /** The folder of people's configuration; their `.config` when absent. */
  readonly configHome?: string;
  /** *Contract:* called before each look at the whole tree. */
  readonly prepare: () => void;
}

export interface Changes {
  /** *Contract:* changes whenever more may have changed than the reported paths. */
  readonly since: object;
  /**
   * Paths that were added, removed or changed since the last call, and whether each is a searched file now.
   */
  readonly paths: ReadonlyMap<string, boolean>;
}

/** Files with other names that are looked at each time. */
const maxLinked = 500;
/** Rounds of looking at a tree whose folders change meanwhile. */
const maxRounds = 4;
/** Changes that are kept for who asks for them. */
const maxChanges = 4_000;
const lookEveryMs = 300_000;
/** How long changes are heard of after the last search. */
const idleMs = 600_000;
const never: AbortSignal = new AbortController().signal;

export class FollowedTree {
  readonly #place: Place;
  readonly #options: FollowOptions;
  readonly #isInRepository: boolean;
  readonly #outside: OutsideRules;
  readonly tree: Tree = new Tree();
  #watch: TreeWatch | undefined;
  /** All changes are being watched. */
  isFollowing = false;
  #isLooking = false;
  #lookedAt = 0;
  /** Changes are not heard of here. */
  #isOff = false;
  #idle: NodeJS.Timeout | undefined;
  #hearing: Promise<boolean> = Promise.resolve(false);
  #keepingUp: Promise<boolean> | undefined;
  readonly #linked = new Set<string>();
  /** Files that are there, and not searched. */
  #ignored = new Set<string>();
  #since: object = {};
  readonly #changed = new Set<string>();

  constructor(place: Place, options: FollowOptions) {
    this.#place = place;
    this.#options = options;
    this.#isInRepository = repositoryOf(place.root) !== undefined;
    this.#outside = new OutsideRules(place.root, options.configHome);
  }

  /** *Contract:* true if the tree is as the disk was at the call. */
  async now(): Promise<boolean> {
    if (!this.isFollowing) return false;
    this.#hearing = this.#hearing.then(() => this.#hear());
    return this.#hearing;
  }

  /** For a repeated caller; undefined while changes are not watched. */
  async changes(): Promise<Changes | undefined> {
    if (!(await this.now())) return undefined;
    const paths = new Map([...this.#changed].map((path) => [path, this.tree.files.has(path)]));
    this.#changed.clear();
    return { since: this.#since, paths };
  }

  #note(path: string): void {
    if (this.#changed.size >= maxChanges) this.#noteAll();
    else this.#changed.add(path);
  }

  #noteAll(): void {
    this.#since = {};
    this.#changed.clear();
  }

  /** Lists the tree and looks at each file. Returns the excluded folders; undefined if that failed. */
  async look(): Promise<ReadonlySet<string> | undefined> {
    this.#isLooking = true;
    this.#lookedAt = Date.now();
    try {
      this.#options.prepare();
      if (!this.#outside.note(this.#watch?.repositories ?? [])) return undefined;
      const gone = new Set(this.tree.files.keys());
      let isReadable = true;
      const see = (path: string): void => {
        // A name that is no text cannot be told to ripgrep again.
        if (path.includes("\ufffd")) isReadable = false;
        const look = lookAt(`${this.#place.root}/${path}`);
        if (!look) return;
        gone.delete(path);
        this.#see(path, look);
      };
      const leftOut = await listFiles(this.#place, { see }, never);
      if (!leftOut || !isReadable) return undefined;
      for (const path of gone) this.tree.remove(path);
      this.#ignored = new Set(leftOut);
      return leftOut;
    } finally {
      this.#isLooking = false;
    }
  }

  #see(path: string, { stamp, isLinked }: FileLook): void {
    if (isLinked) this.#linked.add(path);
    else this.#linked.delete(path);
    const known = this.tree.files.get(path);
    if (known && !known.isFresh && isSameStamp(known.stamp, stamp)) return;
    this.#note(path);
    this.tree.put(path, stamp, isFresh(stamp, Date.now()));
  }

  /** Processes notifications; false if the whole tree must be looked at. */
  async #hear(): Promise<boolean> {
    const watch = this.#watch;
    if (!watch || !this.isFollowing || this.#isLooking) return false;
    const { paths, isPartial } = await watch.drain();
    if (isPartial || watch.isBroken) {
      this.close();
      return false;
    }
    if (!this.#outside.haveChanged() && (await this.#takeIn(paths))) return true;
    this.isFollowing = false;
    for (const path of paths) if (watch.isFolder(path)) watch.drop(path);
    return false;
  }

  /** False when more than single files changed. */
  async #takeIn(paths: ReadonlySet<string>): Promise<boolean> {
    const added: string[] = [];
    for (const path of paths) this.#note(path);
    for (const path of new Set([...paths, ...this.#linked])) {
      const change = this.#takeInOne(path);
      if (change === "more") return false;
      if (change === "new") added.push(path);
    }
    return added.length === 0 || this.#takeInNew(added);
  }

  #takeInOne(path: string): "done" | "new" | "more" {
    const full = join(this.#place.root, path);
    if (speaksOfIgnoring(path) || this.#watch?.isFolder(path)) return "more";
    const isKnown = this.tree.files.has(path);
    const look = lookAt(full);
    if (look && isKnown) this.#see(path, look);
    else if (isKnown) this.tree.remove(path);
    if (this.#ignored.has(path) || (look && isKnown)) return "done";
    if (look) return "new";
    return isFolder(full) ? "more" : "done";
  }

  /** Ripgrep decides whether new files are searched or ignored. */
  async #takeInNew(added: readonly string[]): Promise<boolean> {
    // Outside a repository a listing that begins further below does not heed all that one of the whole does.
    const folders = new Set(added.map((path) => path.slice(0, Math.max(0, path.lastIndexOf("/")))));
    if (!this.#isInRepository || folders.size > 8) return false;
    const searched = new Set<string>();
    const see = (path: string): void => {
      searched.add(path);
    };
    if (!(await listFiles(this.#place, { folders: [...folders], see }, never))) return false;
    for (const path of added) {
      const look = searched.has(path) ? lookAt(join(this.#place.root, path)) : undefined;
      if (look) this.#see(path, look);
      else this.#ignored.add(path);
    }
    return true;
  }

  /**
   * Starts watching if necessary; in the background of a search, and for some time after it. False if changes
   * cannot be watched. *Contract:* never fails.
   */
  keepUp(): Promise<boolean> {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.close(), idleMs).unref();
    this.#keepingUp ??= this.#keepUp()
      .catch(() => false)
      .finally(() => {
        this.#keepingUp = undefined;
      });
    return this.#keepingUp;
  }

  async #keepUp(): Promise<boolean> {
    if (this.#isOff) return false;
    // Once in a while for what is not heard: writes through memory, and under names that a file got since.
    const isOld = Date.now() - this.#lookedAt > lookEveryMs;
    if (this.isFollowing && !isOld) return true;
    // The answer before it goes out first.
    await turn();
    this.#isOff = !(await this.#follow());
    return this.isFollowing;
  }

  async #follow(): Promise<boolean> {
    if (!isWatchable(this.#place.root)) return false;
    // Notifications wait until everything was looked at.
    this.isFollowing = false;
    await this.#hearing;
    this.#watch ??= new TreeWatch(this.#place.root);
    const watch = this.#watch;
    for (let round = 0; round < maxRounds; round++) {
      const leftOut = await this.look();
      if (!leftOut || this.#linked.size > maxLinked) break;
      const added = await watch.follow((folder) => leftOut.has(folder));
      if (watch.isBroken) break;
      if (added > 0) continue;
      // Only files looked at after their folder was watched are certain.
      this.#noteAll();
      this.isFollowing = true;
      return true;
    }
    this.close();
    return false;
  }

  /** Stops watching. */
  close(): void {
    clearTimeout(this.#idle);
    this.isFollowing = false;
    this.#watch?.close();
    this.#watch = undefined;
  }
}
