/** Exact index: which files of a tree may hold a match, kept up by hearing or by looking, built in the background. */
import { readdirSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename, join } from "node:path";
import type { Place } from "../place.ts";
import { cacheName, shortHash } from "../segments/cache-name.ts";
import { markUsed, openSegmentCache, pruneSegments } from "../segments/segment-cache.ts";
import { isFresh, isSameStamp } from "../tree/file-stamp.ts";
import { type Repository, repositoryOf } from "../tree/git-index.ts";
import { beginSweep, type KnownFiles } from "../tree/known-files.ts";
import { buildTrigrams } from "./build-trigrams.ts";
import { copiedSegments } from "./copied-segments.ts";
import { isFolder, type Look, listFiles, lookAt } from "./look-at-tree.ts";
import { OutsideRules, speaksOfIgnoring } from "./outside-rules.ts";
import type { Plan } from "./plan.ts";
import { Tree, type TreeFile } from "./tree.ts";
import { decodeTree, encodeTree } from "./tree-file.ts";
import { isWatchable, TreeWatch } from "./tree-watch.ts";
import { openTrigramSegment, type TrigramSegment } from "./trigram-segment.ts";
import type { ReadFile } from "./trigram-worker.ts";
import { trigramsVersion } from "./trigrams.ts";

export interface ExactOptions {
  /** Where segments are kept, for all trees. */
  readonly folder: string;
  /** Bytes of all that is kept there. */
  readonly quota: number;
  /** Files from which on an index is worth it. */
  readonly fromFiles: number;
  /** The folder of people's configuration; their `.config` when absent. */
  readonly configHome?: string;
  /** *Contract:* pure; false for files that are never indexed: they are searched as they are. */
  readonly mayIndex: (path: string) => boolean;
}

/** Files without trigrams from which on these are made. */
const manyUnknown = 64;
const manySegments = 24;
const smallSegment = 4_000_000;
/** Files with other names that are looked at each time. */
const mostLinked = 500;
/** Rounds of looking at a tree whose folders change meanwhile. */
const mostRounds = 4;
const lookEveryMs = 300_000;
const never: AbortSignal = new AbortController().signal;

export class ExactIndex {
  readonly #place: Place;
  readonly #options: ExactOptions;
  readonly #repository: Repository | undefined;
  readonly #name: string;
  readonly #outside: OutsideRules;
  readonly folder: string;
  readonly tree: Tree = new Tree();
  #isLoaded = false;
  #watch: TreeWatch | undefined;
  /** All that changes is heard of. */
  #isFollowing = false;
  #isLooking = false;
  #lookedAt = 0;
  /** There is nothing to gain here. */
  #isOff = false;
  #hearing: Promise<boolean> = Promise.resolve(false);
  #settling: Promise<void> | undefined;
  #building: Promise<void> | undefined;
  readonly #linked = new Set<string>();
  /** Files that are there, and not searched. */
  #ignored = new Set<string>();
  /** What cannot be indexed as it is. */
  readonly #hopeless = new WeakMap<TreeFile, TreeFile["stamp"]>();

  constructor(place: Place, options: ExactOptions) {
    this.#place = place;
    this.#options = options;
    this.#repository = repositoryOf(place.root);
    this.#name = `t${trigramsVersion}-${cacheName(place.root, this.#repository)}`;
    this.folder = join(options.folder, this.#name);
    this.#outside = new OutsideRules(place.root, options.configHome);
  }

  /**
   * Paths of files that may hold a match, as the disk has them now; `all` when they are too many; undefined when that is not
   * known at once.
   */
  async now(plan: Plan): Promise<readonly string[] | "all" | undefined> {
    if (!this.#isFollowing) return undefined;
    this.#hearing = this.#hearing.then(() => this.#hear());
    return (await this.#hearing) ? (this.#candidates(plan) ?? "all") : undefined;
  }

  #candidates(plan: Plan): readonly string[] | undefined {
    const found = this.tree.candidates(plan, (path) => join(this.#place.root, path));
    if (found.type === "few") return found.paths;
    if (found.type === "torn") this.#removeSegment(found.segment);
    return undefined;
  }

  #load(): void {
    if (this.#isLoaded) return;
    this.#isLoaded = true;
    this.#removeOtherVersions();
    const segments = new Map(this.#segmentNames().flatMap((name) => this.#open(name)));
    const kept = decodeTree(openSegmentCache(this.folder).read(this.#treeName()) ?? new Uint8Array(0));
    // Sessions that build at the same time each keep what they have built.
    for (const copy of copiedSegments(this.tree.segments, kept)) this.#removeSegment(copy);
    if (!kept) return;
    const inOrder = kept.segments.map((name) => segments.get(name));
    for (const { path, stamp, segment, place } of kept.files) {
      const there = inOrder[segment];
      if (there && place < there.files) this.tree.locate(this.tree.put(path, stamp, false), there, place);
    }
    this.#markUsed();
  }

  #removeSegment(segment: TrigramSegment): void {
    this.tree.removeSegment(segment);
    rmSync(segment.path, { force: true });
  }

  #open(name: string): readonly (readonly [string, TrigramSegment])[] {
    const path = join(this.folder, name);
    const segment = openTrigramSegment(path);
    if (segment === "torn") rmSync(path, { force: true });
    if (!segment || segment === "torn") return [];
    this.tree.addSegment(segment);
    return [[name, segment]];
  }

  #segmentNames(): readonly string[] {
    return namesIn(this.folder).filter((name) => name.endsWith(".trigrams"));
  }

  #removeOtherVersions(): void {
    const { folder } = this.#options;
    const own = this.#name.slice(this.#name.indexOf("-"));
    for (const name of namesIn(folder)) {
      const isOther = /^t\d+$/.test(name.slice(0, -own.length)) && name.endsWith(own) && name !== this.#name;
      if (isOther) rmSync(join(folder, name), { recursive: true, force: true });
    }
  }

  #treeName(): string {
    return `${shortHash(this.#place.root)}.tree`;
  }

  /** Lists the tree and looks at each file; false when that did not work. Says which folders are left out. */
  async #look(): Promise<ReadonlySet<string> | undefined> {
    this.#isLooking = true;
    this.#lookedAt = Date.now();
    try {
      this.#load();
      markUsed(this.folder, this.#lookedAt);
      if (!this.#outside.note()) return undefined;
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

  #see(path: string, { stamp, isLinked }: Look): void {
    if (isLinked) this.#linked.add(path);
    else this.#linked.delete(path);
    const known = this.tree.files.get(path);
    if (known && !known.isFresh && isSameStamp(known.stamp, stamp)) return;
    this.tree.put(path, stamp, isFresh(stamp, Date.now()));
  }

  /** Takes in what was heard; false when the whole tree has to be looked at. */
  async #hear(): Promise<boolean> {
    const watch = this.#watch;
    if (!watch || !this.#isFollowing || this.#isLooking) return false;
    const { paths, isPartial } = await watch.drain();
    if (isPartial || watch.isBroken) {
      this.close();
      return false;
    }
    if (!this.#outside.haveChanged() && (await this.#takeIn(paths))) return true;
    this.#isFollowing = false;
    for (const path of paths) if (watch.isFolder(path)) watch.drop(path);
    return false;
  }

  /** False when more than single files changed. */
  async #takeIn(paths: ReadonlySet<string>): Promise<boolean> {
    const added: string[] = [];
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

  /** Whether new files are searched or ignored is for ripgrep to say. */
  async #takeInNew(added: readonly string[]): Promise<boolean> {
    // Outside a repository a listing that begins further below does not heed all that one of the whole does.
    const folders = new Set(added.map((path) => path.slice(0, Math.max(0, path.lastIndexOf("/")))));
    if (!this.#repository || folders.size > 8) return false;
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

  /** Begins to hear of changes, and to make trigrams of what has none. *Contract:* never fails; in the background. */
  settle(): Promise<void> {
    this.#settling ??= this.#settle()
      .catch(() => {
        // A thread that dies is only a build that is tried again.
      })
      .finally(() => {
        this.#settling = undefined;
      });
    return this.#settling;
  }

  async #settle(): Promise<void> {
    if (this.#isOff) return;
    // Once in a while for what is not heard: writes through memory, and under names that a file got since.
    const isOld = Date.now() - this.#lookedAt > lookEveryMs;
    if (!this.#isFollowing || isOld) this.#isOff = !(await this.#follow());
    if (this.#isFollowing && this.#isBehind()) await this.build();
  }

  /** False where there is nothing to gain, or changes are not heard of. */
  async #follow(): Promise<boolean> {
    if (!isWatchable(this.#place.root)) return false;
    // What is heard meanwhile waits until all was looked at.
    this.#isFollowing = false;
    await this.#hearing;
    this.#watch ??= new TreeWatch(this.#place.root);
    const watch = this.#watch;
    for (let round = 0; round < mostRounds; round++) {
      const leftOut = await this.#look();
      if (!leftOut || this.tree.files.size < this.#options.fromFiles || this.#linked.size > mostLinked) break;
      const added = await watch.follow((folder) => leftOut.has(folder));
      if (watch.isBroken) break;
      // Only what was looked at after its folder was watched is known for good.
      this.#isFollowing = added === 0;
      if (added === 0) return true;
    }
    this.close();
    return false;
  }

  /** Many files have no trigrams that could have. */
  #isBehind(): boolean {
    return this.#missing().length > manyUnknown;
  }

  #missing(): readonly TreeFile[] {
    return [...this.tree.unknown].filter((file) => {
      const stamp = this.#hopeless.get(file);
      return !(stamp && isSameStamp(stamp, file.stamp)) && this.#options.mayIndex(file.path);
    });
  }

  /** Makes trigrams of all that has none. With `onProgress` the process waits for it, and all cores help. */
  build(onProgress?: (done: number, total: number) => void): Promise<void> {
    this.#building ??= this.#build(onProgress).finally(() => {
      this.#building = undefined;
    });
    return this.#building;
  }

  async #build(onProgress?: (done: number, total: number) => void): Promise<void> {
    if (onProgress) await this.#look();
    if (this.tree.files.size < this.#options.fromFiles) return;
    const began = Date.now();
    this.#mergeSmall();
    this.#locateKnown();
    const files = this.#missing().map(({ path, stamp }) => ({ path, size: stamp.size }));
    if (files.length > 0) {
      await buildTrigrams({
        root: this.#place.root,
        folder: this.folder,
        files,
        threads: onProgress ? Math.min(4, availableParallelism()) : 1,
        isAwaited: onProgress !== undefined,
        onProgress: onProgress ?? (() => {}),
        onSegment: (name, read) => this.#take(name, read),
      });
      for (const { path, size } of files) {
        const file = this.tree.files.get(path);
        const isSettled = file && !file.segment && file.stamp.size === size && !isFresh(file.stamp, began);
        if (isSettled) this.#hopeless.set(file, file.stamp);
      }
    }
    this.#keep();
  }

  /** Many small segments are made again as one: what other trees of the repository need of them they make again, too. */
  #mergeSmall(): void {
    if (this.tree.segments.length <= manySegments) return;
    for (const segment of this.tree.segments) if (segment.bytes < smallSegment) this.#removeSegment(segment);
  }

  /** Files whose content is in a segment already, as git says: of another worktree, or from before a checkout. */
  #locateKnown(): void {
    if (!this.#repository || this.tree.segments.length === 0) return;
    const { root } = this.#place;
    const files: KnownFiles = new Map();
    const sweep = beginSweep({ root, repository: this.#repository }, files);
    for (const { path } of this.#missing()) sweep.see(path);
    for (const [path, { stamp, id, isFresh: fresh }] of files) {
      const there = id === undefined || fresh ? undefined : this.tree.placeOf(id, stamp.size);
      if (there) this.tree.locate(this.tree.put(path, stamp, false), ...there);
    }
  }

  #take(name: string, read: readonly ReadFile[]): void {
    const [opened] = this.#open(name);
    if (!opened) return;
    for (const { path, stamp, place } of read) {
      const file = this.tree.files.get(path);
      // What changed since is heard of, or seen by the next look.
      if (!file || isFresh(stamp, Date.now())) continue;
      if (isSameStamp(file.stamp, stamp)) {
        file.isFresh = false;
        this.tree.locate(file, opened[1], place);
      }
    }
  }

  #keep(): void {
    const { segments } = this.tree;
    const order = new Map(segments.map((segment, at) => [segment, at]));
    const files = [...this.tree.files.values()].flatMap(({ path, stamp, segment, place }) =>
      segment ? [{ path, stamp, segment: order.get(segment) as number, place }] : [],
    );
    const names = segments.map(({ path }) => basename(path));
    openSegmentCache(this.folder).write(this.#treeName(), encodeTree({ segments: names, files }));
    this.#markUsed();
  }

  /** Repositories used longest ago make room for it. */
  #markUsed(): void {
    const { folder, quota } = this.#options;
    pruneSegments(folder, this.#name, { most: quota, now: Date.now() });
  }

  /** Stops hearing. */
  close(): void {
    this.#isFollowing = false;
    this.#watch?.close();
    this.#watch = undefined;
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
