/** Tree watch: hears of changes in the folders of a tree, where the system tells of each before it is over. */
import { type Dirent, type FSWatcher, readdirSync, readFileSync, statfsSync, statSync, watch } from "node:fs";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { speaksOfIgnoring } from "../tree/outside-rules.ts";

export interface TreeChanges {
  /** Files and folders that came, went or changed. */
  readonly paths: ReadonlySet<string>;
  /** More may have changed than was heard of. */
  readonly isPartial: boolean;
}

/** Local file systems of Linux, whose changes inotify tells of: ext, btrfs, xfs, tmpfs, f2fs, zfs, overlay. */
const trusted = new Set([0xef53, 0x9123683e, 0x58465342, 0x01021994, 0xf2f52010, 0x2fc12fc1, 0x794c7630]);
/** Part of what the system allows: other programs of the user watch, too. */
const share = 1 / 4;
/** Events at a time after which some may have been lost, and paths that are kept. */
const maxEvents = 4_000;
/** Folders that are looked into at a time. */
const atATime = 50;

/** Whether changes below a folder are heard of at all. */
export function isWatchable(root: string): boolean {
  if (process.platform !== "linux" || !trusted.has(Number(statfsSync(root).type))) return false;
  return watchesAllowed() > 0 && limitOf("max_queued_events") > 0;
}

function watchesAllowed(): number {
  return limitOf("max_user_watches") * share;
}

/** Zero where there is no such limit: then changes are not heard of, either. */
function limitOf(name: "max_user_watches" | "max_queued_events"): number {
  try {
    return Number(readFileSync(`/proc/sys/fs/inotify/${name}`, "utf8"));
  } catch {
    return 0;
  }
}

/** The queue that all trees have together: when it is full the system drops events silently. */
const queue = { most: 0, events: 0, overflows: 0 };

function countEvent(): void {
  if (queue.events === 0) {
    // All that the queue holds is read before it.
    setImmediate(() => {
      queue.events = 0;
    });
  }
  queue.events++;
  if (queue.events === queue.most) queue.overflows++;
}

interface Watched {
  readonly watcher: FSWatcher;
  readonly identity: string;
}

export class TreeWatch {
  readonly #root: string;
  readonly #device: bigint | undefined;
  readonly #watched = new Map<string, Watched>();
  #paths = new Set<string>();
  #overflows = queue.overflows;
  #isPartial = false;
  /** Folders in which repositories of their own begin, as the last look found them. */
  repositories: ReadonlySet<string> = new Set();
  /** It could not watch all, or not all that matters, and is of no use any more. */
  isBroken = false;

  constructor(root: string) {
    this.#root = root;
    queue.most = Math.min(maxEvents, Math.ceil(limitOf("max_queued_events") * share));
    this.#device = identityOf(root)?.device;
  }

  isFolder(path: string): boolean {
    return this.#watched.has(path);
  }

  /** Watches every folder but those left out; gives the number of folders, and of repositories in them, that are new. */
  async follow(isLeftOut: (folder: string) => boolean): Promise<number> {
    const most = watchesAllowed();
    let added = 0;
    const waiting = [""];
    const seen = new Set<string>();
    const repositories = new Set<string>();
    for (let folder = waiting.pop(); folder !== undefined && !this.isBroken; folder = waiting.pop()) {
      seen.add(folder);
      if (this.#watch(folder)) added++;
      const entries = entriesOf(this.#root, folder);
      if (entries.some(isUnheard)) this.isBroken = true;
      if (isRepositoryWithin(folder, entries)) repositories.add(folder);
      const folders = entries.filter((entry) => entry.isDirectory() && entry.name !== ".git");
      const paths = folders.map(({ name }) => (folder === "" ? name : `${folder}/${name}`));
      waiting.push(...paths.filter((path) => !isLeftOut(path)));
      if (seen.size > most) this.isBroken = true;
      if (seen.size % atATime === 0) await turn();
    }
    for (const folder of this.#watched.keys()) if (!seen.has(folder)) this.drop(folder);
    added += repositories.difference(this.repositories).size;
    this.repositories = repositories;
    return added;
  }

  /** Whether it was not watched before: a watcher stays with its folder when another one gets the name. */
  #watch(folder: string): boolean {
    const path = join(this.#root, folder);
    // Before it is watched: one that comes in between is then another one the next time.
    const found = identityOf(path);
    const known = this.#watched.get(folder);
    if (known && known.identity === found?.identity) return false;
    if (known) this.drop(folder);
    // A folder that has gone meanwhile is heard of from the one above.
    if (!found) return false;
    try {
      // Another file system begins here: it may be one that tells of nothing.
      if (found.device !== this.#device) this.isBroken = true;
      const watcher = watch(path, { persistent: false });
      watcher.on("change", (_, name) => this.#hear(folder, name));
      watcher.on("error", () => {
        this.isBroken = true;
      });
      this.#watched.set(folder, { watcher, identity: found.identity });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") this.isBroken = true;
      return false;
    }
  }

  #hear(folder: string, name: string | Buffer | null): void {
    countEvent();
    if (typeof name !== "string" || name.includes("\ufffd") || this.#paths.size >= maxEvents) {
      this.#isPartial = true;
      return;
    }
    this.#paths.add(folder === "" ? name : `${folder}/${name}`);
  }

  /** Forgets a folder and what is below it: what has its name now is another one. */
  drop(folder: string): void {
    for (const [path, { watcher }] of this.#watched) {
      if (path !== folder && !path.startsWith(`${folder}/`)) continue;
      watcher.close();
      this.#watched.delete(path);
    }
  }

  /**
   * *Contract:* all that was over when it was called. The system queues an event before the change returns, and the queue
   * is read to its end once in each turn of the loop; the rest of this turn may be over, so it takes two.
   */
  async drain(): Promise<TreeChanges> {
    await turn();
    await turn();
    // No folder above the root is watched.
    if (identityOf(this.#root)?.identity !== this.#watched.get("")?.identity) this.isBroken = true;
    const heard = { paths: this.#paths, isPartial: this.#isPartial || this.#overflows !== queue.overflows };
    this.#paths = new Set();
    this.#overflows = queue.overflows;
    this.#isPartial = false;
    return heard;
  }

  close(): void {
    for (const { watcher } of this.#watched.values()) watcher.close();
    this.#watched.clear();
    this.isBroken = true;
  }
}

/** Its number alone does not tell a folder from one that was made after it was removed. */
function identityOf(path: string): { readonly identity: string; readonly device: bigint } | undefined {
  try {
    const { dev, ino, birthtimeNs } = statSync(path, { bigint: true });
    return { identity: `${dev} ${ino} ${birthtimeNs}`, device: dev };
  } catch {
    // It is gone, or not readable.
    return undefined;
  }
}

function entriesOf(root: string, folder: string): readonly Dirent[] {
  try {
    return readdirSync(join(root, folder), { withFileTypes: true });
  } catch {
    // It went away, or may not be read: ripgrep does not see into it either.
    return [];
  }
}

function isRepositoryWithin(folder: string, entries: readonly Dirent[]): boolean {
  return folder !== "" && entries.some(({ name }) => name === ".git");
}

/** Rules on ignoring that change elsewhere. What a repository within the tree says is looked at each time. */
function isUnheard(entry: Dirent): boolean {
  return entry.name !== ".git" && entry.isSymbolicLink() && speaksOfIgnoring(entry.name);
}
