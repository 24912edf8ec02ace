/** Code index: the files of one tree, ranked for a query; kept up with the disk at each call. */
import { join } from "node:path";
import { type Failure, isFailure } from "@lathe/protocol";
import { buildSegments, type SizedFile } from "./build/build-segments.ts";
import { blobId, type Indexed, maxFileBytes, readQuietly } from "./build/index-files.ts";
import type { Place } from "./place.ts";
import { headOf } from "./rank/git-head.ts";
import { readCommits } from "./rank/git-log.ts";
import { decodeHistory, encodeHistory, type HistoryPart, historyPart } from "./rank/history.ts";
import { cacheName, shortHash } from "./segments/cache-name.ts";
import type { Segment } from "./segments/segment.ts";
import {
  defaultQuota,
  openSegmentCache,
  pruneSegments,
  type SegmentCache,
} from "./segments/segment-cache.ts";
import {
  contentKey,
  type Documents,
  documentsOf,
  keysOf,
  type Located,
  type OpenSegment,
  openSegment,
  type PathFacts,
  pathFacts,
} from "./tree/documents.ts";
import { type Repository, repositoryOf } from "./tree/git-index.ts";
import { decodeKnown, encodeKnown, type KnownFiles, sweep } from "./tree/known-files.ts";
import { listTree } from "./tree/list-tree.ts";
import { wordsVersion } from "./words/words.ts";

export interface CodeIndexOptions {
  /** Where segments are kept, for all trees; nowhere when absent. */
  readonly folder?: string;
  /** *Contract:* pure; false for files that are never indexed. */
  readonly mayIndex: (path: string) => boolean;
  /** Of git. */
  readonly env?: NodeJS.ProcessEnv;
  /** Bytes of all segments at most. */
  readonly quota?: number;
  /** Of a build: files done, and files in all. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** Segments of which one is made again. */
const manySegments = 12;
/** Bytes of a segment that is worth a file. */
const worthKeeping = 200_000;
const manyParts = 8;

export class CodeIndex {
  readonly #place: Place;
  readonly #options: CodeIndexOptions;
  readonly #repository: Repository | undefined;
  readonly #cache: SegmentCache;
  readonly #name: string;
  readonly #facts = new Map<string, PathFacts>();
  #segments: OpenSegment[] = [];
  #places = new Map<string, Located>();
  #known: KnownFiles = new Map();
  #documents: Documents | undefined;
  #isLoaded = false;
  #updating: Promise<Documents | Failure> | undefined;
  #history: { readonly head: string; readonly parts: readonly HistoryPart[] } | undefined;
  #reading: Promise<void> | undefined;
  readonly #kept = new Set<Segment>();
  /** Files that are never indexed. */
  closed: readonly string[] = [];
  /** Where it is kept. */
  readonly folder: string | undefined;

  constructor(place: Place, options: CodeIndexOptions) {
    this.#place = place;
    this.#options = options;
    this.#repository = repositoryOf(place.root);
    this.#name = `v${wordsVersion}-${cacheName(place.root, this.#repository)}`;
    this.folder = options.folder === undefined ? undefined : join(options.folder, this.#name);
    this.#cache = openSegmentCache(this.folder);
  }

  /** The documents as the disk has them now. Calls at the same time share one look at it. */
  update(signal: AbortSignal): Promise<Documents | Failure> {
    this.#updating ??= this.#update(signal).finally(() => {
      this.#updating = undefined;
    });
    return this.#updating;
  }

  async #update(signal: AbortSignal): Promise<Documents | Failure> {
    const listed = await listTree(this.#place, signal);
    if (isFailure(listed)) return listed;
    const paths = listed.filter(this.#options.mayIndex);
    this.closed = listed.filter((path) => !this.#options.mayIndex(path));
    if (!this.#isLoaded) this.#load();
    const { root } = this.#place;
    const swept = sweep({ root, repository: this.#repository }, paths, this.#known);
    if (!swept.changed && this.#documents) return this.#documents;
    this.#known = swept.files;
    this.#readSmallChanges();
    await this.#indexMissing(signal);
    const files = [...this.#known].map(([path, { id }]) => ({ path, id: id ?? "" })).sort(byPath);
    this.#documents = documentsOf(files, this.#catalogue(), this.#documents);
    return this.#documents;
  }

  #load(): void {
    this.#isLoaded = true;
    const kept = this.#cache.segments();
    for (const segment of kept) {
      this.#addSegment(openSegment(segment));
      this.#kept.add(segment);
    }
    if (kept.length > manySegments) {
      // Made again as one: what other trees of the repository need of them they make again, too.
      this.#segments = [];
      this.#places.clear();
      this.#cache.keepOnly([]);
    }
    const known = this.#cache.read(this.#knownName());
    if (known) this.#known = decodeKnown(known);
  }

  #catalogue(): {
    segments: readonly OpenSegment[];
    places: ReadonlyMap<string, Located>;
    factsOf(path: string): PathFacts;
  } {
    return { segments: this.#segments, places: this.#places, factsOf: (path) => this.#factsOf(path) };
  }

  #factsOf(path: string): PathFacts {
    const known = this.#facts.get(path);
    if (known) return known;
    const facts = pathFacts(path);
    this.#facts.set(path, facts);
    return facts;
  }

  #addSegment(open: OpenSegment): void {
    const at = this.#segments.push(open) - 1;
    keysOf(open).forEach((key, file) => {
      if (!this.#places.has(key)) this.#places.set(key, { segment: at, file });
    });
  }

  /** What was read before under another stamp, as after a checkout and back, need not be indexed again. */
  #readSmallChanges(): void {
    const unread = [...this.#known].filter(([, { id }]) => id === undefined);
    if (this.#segments.length === 0 || unread.length > 500) return;
    for (const [path, file] of unread) {
      const bytes = readQuietly(join(this.#place.root, path));
      if (bytes) this.#known.set(path, { ...file, id: blobId(bytes) });
    }
  }

  async #indexMissing(signal: AbortSignal): Promise<void> {
    const missing: SizedFile[] = [];
    for (const [path, { stamp, id }] of this.#known) {
      const language = stamp.size > maxFileBytes ? "none" : this.#factsOf(path).language;
      if (id !== undefined && this.#places.has(contentKey(id, language))) continue;
      missing.push({ path, language, size: Math.min(stamp.size, maxFileBytes) });
    }
    if (missing.length === 0) return;
    const { onProgress = () => {} } = this.#options;
    const built = await buildSegments({ root: this.#place.root, files: missing, onProgress, signal });
    for (const one of built) this.#take(one);
    this.#keep();
  }

  #take({ segment, files }: Indexed): void {
    this.#addSegment(openSegment(segment));
    for (const { path, id } of files) {
      const known = this.#known.get(path);
      if (known) this.#known.set(path, { ...known, id });
    }
  }

  /** What is small is soon made again, and not worth a file each. */
  #keep(): void {
    const unkept = this.#segments.map(({ segment }) => segment).filter((segment) => !this.#kept.has(segment));
    const size = unkept.reduce((sum, { bytes }) => sum + bytes.length, 0);
    if (size < worthKeeping && this.#kept.size > 0) return;
    for (const segment of unkept) this.#kept.add(segment);
    for (const segment of unkept) this.#cache.keep(segment);
    this.#cache.write(this.#knownName(), encodeKnown(this.#known));
    const { folder, quota = defaultQuota } = this.#options;
    if (folder !== undefined) pruneSegments(folder, this.#name, { most: quota, now: Date.now() });
  }

  #knownName(): string {
    return `${shortHash(this.#place.root)}.files`;
  }

  /** Looks at these files again, whatever their stamps say. */
  forget(paths: readonly string[]): void {
    for (const path of paths) this.#known.delete(path);
  }

  /** What the commits say; none where there is no repository, or no git. */
  async history(): Promise<readonly HistoryPart[]> {
    const head = this.#repository && headOf(this.#repository);
    if (head === undefined) return [];
    if (this.#history?.head !== head) {
      this.#reading ??= this.#readHistory(head).finally(() => {
        this.#reading = undefined;
      });
      await this.#reading;
    }
    return this.#history?.parts ?? [];
  }

  async #readHistory(head: string): Promise<void> {
    const { root } = this.#place;
    const env = { ...this.#options.env, GIT_OPTIONAL_LOCKS: "0", GIT_NO_LAZY_FETCH: "1" };
    const kept = this.#history ?? decodeHistory(this.#cache.read("history") ?? new Uint8Array(0));
    if (kept && kept.parts.length < manyParts) {
      const newer = kept.head === head ? [] : await readCommits(root, { since: kept.head, env });
      if (newer) {
        const parts = newer.length > 0 ? [historyPart(newer), ...kept.parts] : kept.parts;
        this.#history = { head, parts };
        return;
      }
    }
    const commits = await readCommits(root, { env });
    const parts = [historyPart(commits ?? [])];
    this.#history = { head, parts };
    if (commits) this.#cache.write("history", encodeHistory(head, parts));
  }
}

function byPath(a: { readonly path: string }, b: { readonly path: string }): number {
  return a.path < b.path ? -1 : 1;
}
