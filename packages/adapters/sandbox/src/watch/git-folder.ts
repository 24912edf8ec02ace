/** Which files of a folder of git's make git run programs or look elsewhere. */
import { dirname, join, resolve } from "node:path";
import { parseGitConfig, type Setting } from "@lathe/system/git";
import { isBelow, kindOf, realPlace } from "@lathe/system/paths";
import type { FileState } from "./file-state.ts";
import type { ConfigPlace } from "./git-config-keys.ts";

/** A file to be remembered. */
export interface Guarded {
  readonly path: string;
  /** Settings are looked at one by one; of all else nothing may change. */
  readonly kind: "config" | "exact";
  /** The folder that settings belong to. */
  readonly git?: string;
  /** All files below it are meant. */
  readonly isFolder?: boolean;
  /** What a command may make of it. */
  readonly mayBe?: (state: FileState) => boolean;
}

/** The names in a folder, from a cache that knows when they changed. */
export type NamesIn = (folder: string) => readonly string[];

const maxDepth = 4;

/** Also of its submodules and linked working trees. */
export function guardedInGit(git: string, namesIn: NamesIn): readonly Guarded[] {
  const trees = namesIn(join(git, "worktrees")).map((name) => join(git, "worktrees", name));
  return [
    { path: join(git, "config"), kind: "config", git },
    { path: join(git, "config.worktree"), kind: "config", git },
    { path: join(git, "commondir"), kind: "exact", mayBe: (state) => isOwnRepository(git, state) },
    ...guardedTree(join(git, "hooks"), namesIn).filter(({ path }) => !path.endsWith(".sample")),
    ...trees.flatMap((tree): readonly Guarded[] => [
      { path: join(tree, "config.worktree"), kind: "config", git: tree },
      { path: join(tree, "commondir"), kind: "exact", mayBe: (state) => isOwnRepository(tree, state) },
    ]),
    ...modulesIn(join(git, "modules"), namesIn).flatMap((module) => guardedInGit(module, namesIn)),
  ];
}

/** All files below a folder; of a link in its place the link. */
export function guardedTree(folder: string, namesIn: NamesIn, depth = 0): readonly Guarded[] {
  const kind = kindOf(folder);
  if (!kind) return [];
  if (!kind.isDirectory() || depth > maxDepth) return [{ path: folder, kind: "exact" }];
  const names = namesIn(folder);
  return names.flatMap((name) => guardedTree(join(folder, name), namesIn, depth + 1));
}

/** A submodule's name may hold slashes: its folder is the one with settings or a HEAD. */
function modulesIn(folder: string, namesIn: NamesIn): readonly string[] {
  return namesIn(folder).flatMap((name) => {
    const path = join(folder, name);
    const names = namesIn(path);
    return names.includes("HEAD") || names.includes("config") ? [path] : modulesIn(path, namesIn);
  });
}

/** The folder of a linked working tree names the repository it lies in as git does, and no other. */
function isOwnRepository(tree: string, state: FileState): boolean {
  return state.kind === "file" && dirname(tree).endsWith("/worktrees") && state.text === "../..\n";
}

/** Where a `.git` file leads, without a link on the way; undefined for what is none. */
export function pointedAt(file: string, state: FileState): string | undefined {
  const text = state.kind === "file" ? state.text : undefined;
  const target = /^gitdir: ([^\n]+)\n*$/u.exec(text ?? "")?.[1];
  const path = target && resolve(dirname(file), target);
  // A link on the way could be given another end later.
  return path && realPlace(path) === path ? path : undefined;
}

/** Git takes a folder with these entries for a repository, at any path; names in lower case. */
export function isGitFolder(names: ReadonlySet<string>): boolean {
  return names.has("head") && (names.has("commondir") || (names.has("objects") && names.has("refs")));
}

/** Settings whose programs and files git uses without being told to. */
const used =
  /^(?:core\.(?:fsmonitor|hookspath|sshcommand|pager|editor|askpass|gitproxy|alternaterefscommand)|sequence\.editor|filter\.\w+|diff\.(?:external|command|textconv)|merge\.driver|gpg\.(?:program|defaultkeycommand)|credential\.helper|include(?:if)?\.path|interactive\.difffilter|remote\.(?:uploadpack|receivepack|vcs)|trailer\.(?:command|cmd)|pager\..+)$/u;

export interface NamingPlace extends ConfigPlace {
  /** The top of the working tree, where it is not to be told from git's folder: git runs there what settings name. */
  readonly top?: string | undefined;
  /** Also programs that are not there yet, where they are named by a path. */
  readonly withAbsent?: boolean;
}

/** What of the workspace settings name: hooks' folders, more settings, and programs. */
export function namedBySettings(text: string, place: NamingPlace): readonly Guarded[] {
  const settings = parseGitConfig(text)?.settings ?? [];
  const named = settings.filter(({ name }) => used.test(name)).flatMap((one) => namedBy(one, place));
  return named.filter(({ path }) => path !== place.workspace && isBelow(path, place.workspace));
}

function namedBy(
  { name, value = "" }: Setting,
  { git, workspace, top, withAbsent }: NamingPlace,
): readonly Guarded[] {
  const tree = top ?? (git.endsWith("/.git") ? dirname(git) : workspace);
  if (name.startsWith("include")) {
    const path = resolve(git, value);
    return [{ path, kind: "config", git: dirname(path) }];
  }
  if (name === "core.hookspath") {
    const path = resolve(tree, value);
    // Not all of the workspace is to be guarded: git runs no others of it.
    if (path === workspace) return hooks.map((hook) => ({ path: join(path, hook), kind: "exact" }));
    return [{ path, kind: "exact", isFolder: true }];
  }
  const words = value.split(/[\s"'!;|&()<>=]+/u);
  const isNamed = (word: string): boolean => {
    const kind = kindOf(resolve(tree, word));
    return kind ? !kind.isDirectory() : withAbsent === true && word.includes("/");
  };
  return words.filter(isNamed).map((word) => ({ path: resolve(tree, word), kind: "exact" }));
}

/** As in githooks(5). */
const hooks = [
  "applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg post-commit",
  "pre-rebase post-checkout post-merge pre-push pre-receive update proc-receive post-receive post-update",
  "reference-transaction push-to-checkout pre-auto-gc post-rewrite sendemail-validate fsmonitor-watchman",
  "p4-changelist p4-prepare-changelist p4-post-changelist p4-pre-submit post-index-change",
]
  .join(" ")
  .split(" ");
