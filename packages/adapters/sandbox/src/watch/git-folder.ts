/** Which files of a git folder make git run programs or read other places. */
import { dirname, join, resolve } from "node:path";
import { parseGitConfig, type Setting } from "@lathe/system/git";
import { isBelow, kindOf, realPlace } from "@lathe/system/paths";
import type { FileState } from "./file-state.ts";
import type { ConfigPlace } from "./git-config-keys.ts";

/** A file to be remembered. */
export interface Guarded {
  readonly path: string;
  /** Settings are checked one by one; any other file must not change. */
  readonly kind: "config" | "exact";
  /** The folder that settings belong to. */
  readonly git?: string;
  /** Covers all files below it. */
  readonly isFolder?: boolean;
  /** Accepts states that a command may give it. */
  readonly mayBe?: (state: FileState) => boolean;
}

/** The names in a folder, from a cache that knows when they changed. */
export type NamesIn = (folder: string) => readonly string[];

const maxDepth = 4;

/** Also covers its submodules and linked working trees. */
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

/** All files below a folder; if a link is in its place, the link. */
export function guardedTree(folder: string, namesIn: NamesIn, depth = 0): readonly Guarded[] {
  const kind = kindOf(folder);
  if (!kind) return [];
  if (!kind.isDirectory() || depth > maxDepth) return [{ path: folder, kind: "exact" }];
  const names = namesIn(folder);
  return names.flatMap((name) => guardedTree(join(folder, name), namesIn, depth + 1));
}

/** A submodule's name may contain slashes: its folder is the one with settings or a HEAD. */
function modulesIn(folder: string, namesIn: NamesIn): readonly string[] {
  return namesIn(folder).flatMap((name) => {
    const path = join(folder, name);
    const names = namesIn(path);
    return names.includes("HEAD") || names.includes("config") ? [path] : modulesIn(path, namesIn);
  });
}

/** A linked working tree's folder must name its own repository, as git writes it, and no other. */
function isOwnRepository(tree: string, state: FileState): boolean {
  return state.kind === "file" && dirname(tree).endsWith("/worktrees") && state.text === "../..\n";
}

/** The target of a `.git` file, with no link on the way; undefined if it is not such a file. */
export function pointedAt(file: string, state: FileState): string | undefined {
  const text = state.kind === "file" ? state.text : undefined;
  const target = /^gitdir: ([^\n]+)\n*$/u.exec(text ?? "")?.[1];
  const path = target && resolve(dirname(file), target);
  // A link on the way could be changed to another target later.
  return path && realPlace(path) === path ? path : undefined;
}

/** Git treats a folder with these entries as a repository, at any path; names are in lower case. */
export function isGitFolder(names: ReadonlySet<string>): boolean {
  return names.has("head") && (names.has("commondir") || (names.has("objects") && names.has("refs")));
}

/** Settings that name programs and files git uses on its own. */
const used =
  /^(?:core\.(?:fsmonitor|hookspath|sshcommand|pager|editor|askpass|gitproxy|alternaterefscommand)|sequence\.editor|filter\.\w+|diff\.(?:external|command|textconv)|merge\.driver|gpg\.(?:program|defaultkeycommand)|credential\.helper|include(?:if)?\.path|interactive\.difffilter|remote\.(?:uploadpack|receivepack|vcs)|trailer\.(?:command|cmd)|pager\..+)$/u;

export interface NamingPlace extends ConfigPlace {
  /** Top of the working tree, if git's folder does not tell: relative program names start there. */
  readonly top?: string | undefined;
  /** Also returns missing programs, if they are named by a path. */
  readonly withAbsent?: boolean;
}

/** Workspace files that settings name: hook folders, more settings, and programs. */
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
    // The whole workspace cannot be guarded: git runs only these files of it.
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

/** The hooks of githooks(5). */
const hooks = [
  "applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg post-commit",
  "pre-rebase post-checkout post-merge pre-push pre-receive update proc-receive post-receive post-update",
  "reference-transaction push-to-checkout pre-auto-gc post-rewrite sendemail-validate fsmonitor-watchman",
  "p4-changelist p4-prepare-changelist p4-post-changelist p4-pre-submit post-index-change",
]
  .join(" ")
  .split(" ");
