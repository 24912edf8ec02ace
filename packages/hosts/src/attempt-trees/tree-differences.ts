/** What an attempt's working tree differs in from the folder as it was when the tree was made. */
import { lstatSync } from "node:fs";
import { relative, sep } from "node:path";
import { type Failure, failure, isFailure } from "@lathe/protocol";
import type { Difference, Side } from "@lathe/sandbox/forks/differences";
import { changedFiles } from "../worktrees/changed-files.ts";
import { gitIn } from "../worktrees/git-in.ts";
import type { WholeTree } from "./attempt-tree.ts";
import { absentState, bare, contentState, fileState, isReached, linkState, pathOf } from "./file-state.ts";

type Env = Readonly<Record<string, string | undefined>>;

export interface TreeDifferences {
  /** Below the folder, in order of their paths; `isMoved` where the folder has changed since. */
  readonly differences: readonly Difference[];
  /** Changed in the repository outside of the folder: they are nobody's to take over. */
  readonly outside: readonly string[];
}

/** *Contract:* what git ignores is not among them; while nobody works in it. */
export async function treeDifferences(env: Env, tree: WholeTree): Promise<TreeDifferences | Failure> {
  const { path, base, top, made } = tree;
  const listed = await changedFiles(path, env, made);
  if (isFailure(listed)) return listed;
  const unseen = await unseenFiles(env, tree);
  if (isFailure(unseen)) return unseen;
  try {
    const all = [...new Set([...listed, ...unseen, ...Object.keys(made.carried)])].map(bare).toSorted();
    const changed = all.filter((name) => fileState(path, name) !== carriedState(made.carried, name));
    const prefix = prefixOf(top, base);
    const inside = changed.filter((name) => name.startsWith(prefix));
    const before = await statesBefore(env, tree, inside);
    if (isFailure(before)) return before;
    const differences = inside.flatMap((name): readonly Difference[] => {
      const [now, was] = [fileState(path, name), before.get(name)];
      if (now === was) return [];
      const present = fileState(top, name);
      const sides = { base: sideOf(top, name), fork: sideOf(path, name) };
      const isMoved = present !== now && present !== was;
      return [{ path: name.slice(prefix.length), what: whatOf(was, now), ...sides, isMoved }];
    });
    return { differences, outside: changed.filter((name) => !name.startsWith(prefix)) };
  } catch (cause) {
    return failure("no-access", `${path} cannot be compared: ${String(cause)}`, { who: "host", cause });
  }
}

/** Files that git was told not to look at. */
async function unseenFiles(env: Env, { path, made }: WholeTree): Promise<readonly string[] | Failure> {
  const words = [`--git-dir=${made.gitFolder}`, `--work-tree=${path}`, "ls-files", "-z", "-v"];
  const listed = await gitIn(path, words, env);
  if (isFailure(listed)) return listed;
  return listed.split("\0").flatMap((line) => (/^[a-zS] /.test(line) ? [line.slice(2)] : []));
}

/** As git names what is below the folder. */
function prefixOf(top: string, base: string): string {
  const below = relative(top, base);
  return below === "" ? "" : `${Buffer.from(below.split(sep).join("/")).toString("latin1")}/`;
}

function carriedState(carried: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(carried, name) ? carried[name] : carried[`${name}/`];
}

function whatOf(was: string | undefined, now: string): Difference["what"] {
  if (now === absentState) return "deleted";
  if (was === absentState) return "added";
  const content = (state = ""): string => state.replace(/ runs$/, "");
  return was?.startsWith("file ") && content(was) === content(now) ? "mode" : "modified";
}

function sideOf(root: string, name: string): Side {
  const stats = isReached(root, name) ? lstatSync(pathOf(root, name), { throwIfNoEntry: false }) : undefined;
  if (!stats) return { kind: "absent", mode: 0 };
  const kind = stats.isFile()
    ? "file"
    : stats.isDirectory()
      ? "folder"
      : stats.isSymbolicLink()
        ? "link"
        : "other";
  return { kind, mode: stats.mode & 0o7777 };
}

/** By name: what was carried, else what the commit has, as git puts it into a working tree. */
async function statesBefore(
  env: Env,
  { path, made }: WholeTree,
  names: readonly string[],
): Promise<ReadonlyMap<string, string> | Failure> {
  const before = new Map<string, string>();
  const entries = await committed(env, { path, made });
  if (isFailure(entries)) return entries;
  for (const name of names) {
    const state =
      carriedState(made.carried, name) ?? (await stateInCommit(env, { path, made, entries }, name));
    if (typeof state !== "string") return state;
    before.set(name, state);
  }
  return before;
}

type Place = Pick<WholeTree, "path" | "made">;

/** Mode and object of each file, by its name. */
async function committed(
  env: Env,
  { path, made }: Place,
): Promise<ReadonlyMap<string, readonly [string, string]> | Failure> {
  const words = [`--git-dir=${made.gitFolder}`, "ls-tree", "-r", "-z", "--full-tree", made.commit];
  const listed = await gitIn(path, words, env);
  if (isFailure(listed)) return listed;
  const entries = listed.split("\0").flatMap((line) => {
    const [, mode, object, name] = /^(\d+) \S+ (\w+)\t([\s\S]*)$/.exec(line) ?? [];
    return mode && object && name !== undefined ? [[name, [mode, object] as const] as const] : [];
  });
  return new Map(entries);
}

async function stateInCommit(
  env: Env,
  { path, made, entries }: Place & { readonly entries: ReadonlyMap<string, readonly [string, string]> },
  name: string,
): Promise<string | Failure> {
  const entry = entries.get(name);
  if (!entry) {
    const isFolder = [...entries.keys()].some((one) => one.startsWith(`${name}/`));
    return isFolder ? "folder" : absentState;
  }
  const [mode, object] = entry;
  if (mode === "160000") return "repository";
  const isLink = mode === "120000";
  const shown = Buffer.from(name, "latin1").toString();
  const how = isLink ? ["blob", object] : ["--filters", `--path=${shown}`, object];
  const words = [`--git-dir=${made.gitFolder}`, `--work-tree=${path}`, "cat-file", ...how];
  const text = await gitIn(path, words, env);
  if (isFailure(text)) return text;
  const bytes = Buffer.from(text, "latin1");
  return isLink ? linkState(bytes) : contentState(bytes, mode === "100755");
}
