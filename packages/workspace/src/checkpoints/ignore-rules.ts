/** Which folders git ignores, as the user's own repositories say it; asked again only when something may have changed. */
import { readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type Failure, isFailure } from "@lathe/protocol";
import { bytePath, diskPath, joined } from "./byte-path.ts";
import { type Git, runGit } from "./run-git.ts";
import { writeWhole } from "./write-whole.ts";

/** What no `.gitignore` has to say: made by tools, large, and made again by them. A tracked one is covered. */
const alwaysIgnored = [
  "node_modules/",
  "bower_components/",
  ".pnpm-store/",
  ".venv/",
  "__pycache__/",
  ".tox/",
  ".mypy_cache/",
  ".pytest_cache/",
  ".ruff_cache/",
  ".gradle/",
  ".terraform/",
  ".next/",
  ".nuxt/",
];

/** File times are taken from a clock that goes in steps. */
const clockStepMs = 50;

interface Repository {
  /** Paths of folders, relative to the root. */
  readonly ignored: ReadonlySet<string>;
  /** What else than `.gitignore` files in it decides: changed when this is. */
  readonly stamp: string;
  readonly readAt: number;
}

interface SeenFolder {
  /** It was there and not ignored when the rules were last read. */
  readonly known: boolean;
  readonly changedAt: number;
}

interface Place {
  /** The repository's `.git`, or the shadow repository where there is none. */
  readonly gitFolder: string;
  readonly tree: string;
  readonly decisive: readonly string[];
}

/** Base: the folder of a repository relative to the root, "" for the one that the root is in. Paths: one character per byte. */
export class IgnoreRules {
  readonly #git: Git;
  readonly #root: string;
  readonly #defaults: string;
  readonly #known = new Map<string, Repository>();
  readonly #fresh = new Set<string>();
  readonly #doubted = new Set<string>();

  constructor(git: Git, root: string) {
    this.#git = git;
    this.#root = root;
    this.#defaults = join(git.folder, "default-ignore");
    writeWhole(this.#defaults, `${alwaysIgnored.join("\n")}\n`);
  }

  /** Before each walk over the files. */
  begin(): void {
    this.#fresh.clear();
    for (const base of this.#doubted) this.#known.delete(base);
    this.#doubted.clear();
    for (const [base, { stamp }] of this.#known) {
      if (stampOf(this.#place(base).decisive) !== stamp) this.#known.delete(base);
    }
  }

  /** A `.gitignore` in it has changed. True when the walk has used older rules. */
  changed(base: string): boolean {
    if (this.#fresh.has(base)) return false;
    this.#known.delete(base);
    return true;
  }

  /** Has to be called for a base before `isIgnored`. */
  async open(base: string): Promise<Failure | undefined> {
    if (this.#known.has(base)) return undefined;
    const readAt = Date.now();
    const place = this.#place(base);
    const stamp = stampOf(place.decisive);
    // A broken or foreign repository: its `.gitignore` files count all the same.
    const shadow = { ...place, gitFolder: this.#git.folder, tree: this.#absolute(base) };
    let folders = await this.#list(base, place);
    if (folders === undefined || isFailure(folders)) folders = await this.#list(base, shadow);
    if (isFailure(folders)) return folders;
    const ignored = new Set((folders ?? []).map((folder) => joined(base, folder)));
    this.#known.set(base, { ignored, stamp, readAt });
    this.#fresh.add(base);
    return undefined;
  }

  async isIgnored(base: string, path: string, folder: SeenFolder): Promise<boolean | Failure> {
    if (this.#known.get(base)?.ignored.has(path)) return true;
    if (folder.known) return false;
    if (this.changed(base)) {
      const failed = await this.open(base);
      if (failed) return failed;
    }
    const rules = this.#known.get(base);
    // Made while git was looking: it may have been missed.
    if (!rules || folder.changedAt >= rules.readAt - clockStepMs) this.#doubted.add(base);
    return rules?.ignored.has(path) ?? false;
  }

  /** Undefined when the folder is itself ignored by a repository further up, as by one of the user's home. */
  async #list(base: string, place: Place): Promise<readonly string[] | undefined | Failure> {
    const run = { cwd: this.#absolute(base), repository: { folder: place.gitFolder, tree: place.tree } };
    const own = ["-c", "core.fsmonitor=false", "-c", `core.excludesFile=${this.#defaults}`];
    const safe = [...own, "-c", "safe.directory=*", "-c", "core.precomposeUnicode=false"];
    const listed = await runGit(
      this.#git,
      [...safe, "ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"],
      run,
    );
    if (isFailure(listed)) return listed;
    const folders = listed
      .toString("latin1")
      .split("\0")
      .filter((path) => path.endsWith("/"))
      .map((path) => path.slice(0, -1));
    if (folders.includes(".")) return undefined;
    if (folders.length === 0) return [];
    // A folder in which everything is ignored is in the list too; one that is ignored itself has a rule.
    const input = Buffer.from(folders.join("\0"), "latin1");
    const checked = await runGit(this.#git, [...safe, "check-ignore", "-z", "--stdin"], {
      ...run,
      input,
      accepts: 1,
    });
    return isFailure(checked) ? checked : checked.toString("latin1").split("\0").filter(Boolean);
  }

  #absolute(base: string): string {
    return Buffer.from(joined(this.#root, base).replace(/\/$/, ""), "latin1").toString("utf8") || "/";
  }

  #place(base: string): Place {
    const folder = this.#absolute(base);
    const found = base === "" ? repositoryAbove(folder) : folder;
    if (found === undefined) return { gitFolder: this.#git.folder, tree: folder, decisive: [] };
    const gitFolder = join(found, ".git");
    const real = linkedFolder(gitFolder);
    const decisive = [join(real, "index"), join(commonFolder(real), "info", "exclude")];
    for (let at = folder; at !== found; ) {
      at = dirname(at);
      decisive.push(join(at, ".gitignore"));
    }
    return { gitFolder, tree: found, decisive };
  }
}

function repositoryAbove(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    if (statSync(join(at, ".git"), { throwIfNoEntry: false })) return at;
    if (at === dirname(at)) return undefined;
  }
}

/** `.git` of a worktree or a submodule is a file that names the folder. */
function linkedFolder(gitFolder: string): string {
  const target = /^gitdir: (.*)/.exec(readSmall(gitFolder) ?? "")?.[1];
  return target === undefined ? gitFolder : resolve(dirname(gitFolder), target.trim());
}

function commonFolder(gitFolder: string): string {
  const common = readSmall(join(gitFolder, "commondir"));
  return common === undefined ? gitFolder : resolve(gitFolder, common.trim());
}

function readSmall(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // A folder, or nothing: then there is nothing to follow.
    return undefined;
  }
}

function stampOf(paths: readonly string[]): string {
  return paths
    .map((path) => {
      const stats = statSync(diskPath(bytePath(path)), { throwIfNoEntry: false });
      return stats ? `${stats.ino}:${stats.size}:${stats.mtimeMs}:${stats.ctimeMs}` : "-";
    })
    .join(" ");
}
