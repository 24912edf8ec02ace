/** Watches over what of a workspace the host obeys: remembered before commands run, put back when they have ended. */
import { type Dirent, lstatSync, readlinkSync, utimesSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { isBelow, kindOf, namesIn, whereLeads } from "@lathe/system/paths";
import { putBack } from "./file-state.ts";
import { type FolderSeen, type WalkCache, walkFolders } from "./folder-walk.ts";
import {
  guardedInGit,
  guardedTree,
  isGitFolder,
  type NamingPlace,
  namedBySettings,
  pointedAt,
} from "./git-folder.ts";
import { gitGuards } from "./git-guards.ts";
import { hostRunPaths } from "./host-run.ts";
import { createLedger, type Ledger } from "./ledger.ts";
import { listedEntry } from "./listed-entry.ts";
import { globalSettings, repositoryOf, settingsOf } from "./repository-of.ts";

export interface WatchOptions {
  readonly workspace: string;
  readonly scratch: string;
  /** A folder that commands do not see. */
  readonly control: string;
  /** What commands are shown outside both: links may lead there. */
  readonly shown: readonly string[];
  readonly home: string;
  /** Whether the hooks and the editors' files that are there are read-only for commands; true when absent. */
  readonly isSealed?: boolean;
}

/** How long a command may wait for the walk, at its start and at its end; the rest is gone through in small slices. */
const firstMs = 1;
const lastMs = 4;
/**
 * As many are gone through at the end however long it takes: a busy machine must not leave a small workspace unseen. The
 * first time, when each has to be read, a fifth of them.
 */
const leastFolders = 1_000;
/** As many before the first command: what of a small workspace was there is known, however busy the machine. */
const firstFolders = 50;
const sliceMs = 1;
const pollMs = 250;
const tickMs = 20;
/** What a file names may name more. */
const maxRounds = 4;
const longestMs = 2_000;

export class WorkspaceWatch {
  readonly #options: WatchOptions;
  readonly #ledger: Ledger;
  readonly #clock: string;
  readonly #cache: WalkCache = { folders: new Map(), walks: 0 };
  readonly #names = new Map<string, { readonly stamp: string; readonly names: readonly string[] }>();
  /** Folders of git's; made by a command, or there before. */
  readonly #git = new Map<string, boolean>();
  readonly #trees = new Set<string>();
  /** Folders into which we could not look once: what comes out of them is a command's. */
  readonly #closed = new Set<string>();
  readonly #granted = new Set<string>();
  readonly #global: readonly string[];
  #roots: readonly string[];
  /** Read-only for every command that runs. */
  #sealed: readonly string[] = [];
  #walk: Generator<void> | undefined;
  #mustWalkAgain = false;
  /** The kernel's time from which on a change may be a command's. */
  #dirtySince: number | undefined;
  #firstDirty: number | undefined;
  /** Whether every folder has been read: what is not known then is new. */
  #isComplete = false;
  #active = 0;
  #pending: string[] = [];
  #links: string[] = [];
  #poll: NodeJS.Timeout | undefined;
  #background: NodeJS.Immediate | undefined;
  #hasFound = false;

  constructor(options: WatchOptions) {
    const { workspace, scratch, control, home } = options;
    this.#options = options;
    this.#roots = [workspace];
    this.#ledger = createLedger({ workspace, scratch, roots: () => this.#roots });
    this.#clock = control;
    this.#global = globalSettings(home);
  }

  /** Before a command starts, which may reach what was granted; the result, once it has ended, names what was taken back. */
  begin(granted: readonly string[] = []): () => readonly string[] {
    for (const path of granted) this.#granted.add(path);
    if (this.#active > 0) for (const one of this.#check()) this.#pending.push(one);
    this.#lookAround();
    if (this.#active === 0) this.#accept();
    this.#dirtySince ??= this.#now();
    this.#firstDirty ??= this.#dirtySince;
    this.#active++;
    this.#goOn();
    this.#poll ??= setInterval(() => this.#pending.push(...this.#check()), pollMs).unref();
    let isOver = false;
    return () => {
      if (isOver) return [];
      isOver = true;
      return this.#end();
    };
  }

  /** Once each, of what was told as taken back: links whose paths are empty now. */
  takeLinks(): readonly string[] {
    return this.#links.splice(0);
  }

  /** Goes through the rest of the workspace, where that is large. */
  async settle(): Promise<void> {
    const until = performance.now() + longestMs;
    while (this.#walk && performance.now() < until) {
      this.#sweep(sliceMs);
      await new Promise((resolve) => setImmediate(resolve));
    }
    clearImmediate(this.#background);
  }

  #end(): readonly string[] {
    for (const one of this.#check()) this.#pending.push(one);
    if (this.#walk) this.#mustWalkAgain = true;
    else this.#walk = this.#newWalk();
    this.#active--;
    if (this.#active === 0) {
      clearInterval(this.#poll);
      this.#poll = undefined;
    }
    this.#sweep(lastMs, this.#isComplete ? leastFolders : leastFolders / 5);
    this.#goOn();
    const taken = [...new Set(this.#pending)];
    this.#pending = [];
    return taken;
  }

  #goOn(): void {
    if (!this.#walk || this.#background) return;
    this.#background = setImmediate(() => {
      this.#background = undefined;
      this.#sweep(sliceMs);
      this.#goOn();
    }).unref();
  }

  #newWalk(): Generator<void> {
    return walkFolders(this.#options.workspace, this.#cache, (folder) => this.#visit(folder));
  }

  #sweep(ms: number, folders = 0): void {
    const until = performance.now() + ms;
    for (let at = 0; this.#walk && (at < folders || performance.now() < until); at++) {
      if (!this.#walk.next().done) continue;
      // What the walk has found last was there before it was complete.
      if (this.#hasFound && !this.#isComplete) this.#expand();
      this.#isComplete = true;
      this.#walk = this.#mustWalkAgain ? this.#newWalk() : undefined;
      this.#mustWalkAgain = false;
    }
    if (this.#hasFound) for (const one of this.#check()) this.#pending.push(one);
    if (!this.#walk && this.#active === 0) this.#dirtySince = undefined;
  }

  /** What is guarded by mounts from here on, and where git's data lies. */
  #lookAround(): void {
    const { workspace, home } = this.#options;
    const { writable, readOnly } = gitGuards(workspace, home);
    const sealed = this.#options.isSealed === false ? [] : [...readOnly, ...hostRunPaths(workspace).sealed];
    this.#sealed = this.#active === 0 ? sealed : this.#sealed.filter((path) => sealed.includes(path));
    for (const path of writable) if (!this.#git.has(path)) this.#git.set(path, false);
    this.#roots = [workspace, ...writable.filter((path) => !isBelow(path, workspace))];
    if (this.#options.isSealed === false) this.#addTop();
    if (this.#cache.folders.size > 0 || this.#walk) return;
    this.#walk = this.#newWalk();
    this.#sweep(firstMs, firstFolders);
  }

  /** What would be sealed is known before the first command, however far the walk has come. */
  #addTop(): void {
    const { workspace } = this.#options;
    const git = join(workspace, ".git");
    const kind = kindOf(git);
    if (kind) this.#addRepository(git, kind.isDirectory());
    const { sealed, links } = hostRunPaths(workspace);
    for (const path of [...sealed, ...links]) {
      if (kindOf(path)?.isDirectory()) this.#addTree(path);
      else this.#add(path);
    }
  }

  #accept(): void {
    this.#ledger.accept();
    this.#expand();
    const { workspace } = this.#options;
    const repository = repositoryOf(workspace);
    for (const text of this.#global) this.#learnNamed(text, { git: join(workspace, ".git"), ...repository });
    // A linked working tree has the settings of another, and they name files of its own.
    for (const { text, git } of repository ? settingsOf(repository) : [])
      this.#learnNamed(text.toString("latin1"), { git, ...repository });
    for (const { text, git } of this.#ledger.settings()) this.#learnNamed(text, { git });
    // What they name is known as it is now, before a command changes it.
    if (this.#hasFound) this.#expand();
  }

  #learnNamed(text: string, place: Pick<NamingPlace, "git" | "top">): void {
    const { workspace } = this.#options;
    const named = Buffer.from(text, "latin1").toString();
    for (const guarded of namedBySettings(named, { ...place, workspace })) {
      if (guarded.isFolder) this.#addTree(guarded.path);
      else if (!this.#ledger.knows(guarded.path)) this.#ledger.learn(guarded, false);
    }
  }

  #check(): readonly string[] {
    const taken: string[] = [];
    let rounds = 0;
    do {
      this.#hasFound = false;
      this.#expand();
      for (const one of this.#ledger.check((path) => this.#isSealed(path))) taken.push(one);
    } while (this.#hasFound && ++rounds < maxRounds);
    return taken;
  }

  #isSealed(path: string): boolean {
    return this.#sealed.some((sealed) => isBelow(path, sealed));
  }

  /** Learns of the files that have come to be in folders that are known. */
  #expand(): void {
    const namesIn = (folder: string): readonly string[] => this.#namesIn(folder);
    for (const [git, isMade] of this.#git) {
      for (const guarded of guardedInGit(git, namesIn)) {
        if (this.#ledger.knows(guarded.path)) continue;
        this.#ledger.learn(guarded, isMade || this.#isTouched(guarded.path, git));
      }
      this.#git.set(git, false);
    }
    for (const tree of this.#trees) {
      if (this.#isSealed(tree)) continue;
      for (const guarded of guardedTree(tree, namesIn)) {
        if (this.#ledger.knows(guarded.path)) continue;
        this.#ledger.learn(guarded, this.#isMade(guarded.path, tree));
      }
    }
  }

  /** A folder that was read: what in it is to be guarded, and which of its folders are gone into. */
  #visit({ path, entries }: FolderSeen): readonly string[] {
    if (!entries) {
      this.#closed.add(path);
      return [];
    }
    const below = entries.filter((entry) => this.#isEntered(path, entry)).map(({ name }) => name);
    // Of what Mercurial keeps only the files beside each other matter.
    if (/\/\.hg$/iu.test(path)) return [];
    if (!isGitFolder(new Set(entries.map(({ name }) => name.toLowerCase())))) return below;
    this.#addGit(path);
    // A working tree may lie around what looks like git's own folder.
    return below.filter((name) => !["objects", "refs", "hooks", "logs", "info"].includes(name.toLowerCase()));
  }

  /** Guards what the host would run or obey of it; whether it is a folder to go on in. */
  #isEntered(path: string, entry: Dirent): boolean {
    const full = join(path, entry.name);
    const isFolder = entry.isDirectory();
    if (entry.name.toLowerCase() === ".git") {
      this.#addRepository(full, isFolder);
      return false;
    }
    const isNew = entry.isSymbolicLink() && this.#isTouched(full, full);
    const { guarded, isWhole } = listedEntry(path, entry, { workspace: this.#options.workspace, isNew });
    for (const one of guarded) {
      if (one.isFolder) this.#addTree(one.path);
      else this.#add(one.path);
    }
    if (entry.isSymbolicLink() && !isWhole) this.#judgeLink(path, full);
    return isFolder && !isWhole;
  }

  #addRepository(path: string, isFolder: boolean): void {
    if (isFolder) {
      this.#addGit(path);
      return;
    }
    const mayBe = (state: Parameters<typeof pointedAt>[1]): boolean => {
      const target = pointedAt(path, state);
      if (target === undefined || !this.#roots.some((root) => isBelow(target, root))) return false;
      // What it leads to is guarded like any other.
      this.#addGit(target);
      return true;
    };
    if (this.#ledger.knows(path)) return;
    this.#ledger.learn({ path, kind: "exact", mayBe }, this.#isTouched(path, path));
    this.#hasFound = true;
  }

  #addGit(path: string): void {
    if (this.#git.has(path)) return;
    const parts = ["", "HEAD", "objects", "refs", "commondir"].map((name) => join(path, name));
    this.#git.set(
      path,
      parts.some((part) => this.#isTouched(part, part)),
    );
    this.#hasFound = true;
  }

  #addTree(path: string): void {
    if (this.#trees.has(path)) return;
    this.#trees.add(path);
    this.#hasFound = true;
  }

  #add(path: string): void {
    if (this.#ledger.knows(path)) return;
    this.#ledger.learn({ path, kind: "exact" }, this.#isMade(path, path));
    this.#hasFound = true;
  }

  /** One that a command made must not lead the host's tools to files that commands cannot reach. */
  #judgeLink(folder: string, path: string): void {
    if (!this.#isTouched(path, path)) return;
    const { workspace, scratch, shown } = this.#options;
    const target = linkTarget(path);
    const leads = target === undefined ? undefined : whereLeads(folder, target);
    const allowed = [workspace, scratch, "/dev/null", ...this.#roots, ...shown, ...this.#granted];
    if (leads !== undefined && allowed.some((root) => isBelow(leads, root))) return;
    if (!putBack(path, { kind: "none" }, this.#roots)) return;
    const name = relative(workspace, path);
    this.#links.push(name);
    this.#pending.push(`${name} (a link out of the workspace)`);
  }

  /** Whether it, or a folder above it up to `root`, has changed since commands run. */
  #isTouched(path: string, root: string): boolean {
    const since = this.#dirtySince;
    if (since === undefined) return false;
    for (const closed of this.#closed) if (isBelow(path, closed)) return true;
    for (let at = path; isBelow(at, root); at = dirname(at)) {
      const stats = kindOf(at);
      if (stats && stats.ctimeMs >= since) return true;
      if (at === "/") break;
    }
    return false;
  }

  /** Before all folders have been read, a file that is older than the first command is taken for the user's. */
  #isMade(path: string, root: string): boolean {
    if (!this.#isTouched(path, root)) return false;
    return this.#isComplete || (kindOf(path)?.birthtimeMs ?? 0) >= (this.#firstDirty ?? 0);
  }

  #namesIn(folder: string): readonly string[] {
    const stats = kindOf(folder);
    if (!stats?.isDirectory()) return [];
    const stamp = `${stats.ino} ${stats.ctimeMs}`;
    const known = this.#names.get(folder);
    if (known?.stamp === stamp) return known.names;
    const names = namesIn(folder);
    const isSettled = Date.now() - stats.ctimeMs > tickMs;
    this.#names.set(folder, { stamp: isSettled ? stamp : "", names });
    return names;
  }

  /** By the kernel's own clock, which is behind ours by up to a tick. */
  #now(): number {
    const now = new Date();
    utimesSync(this.#clock, now, now);
    return lstatSync(this.#clock).ctimeMs;
  }
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
