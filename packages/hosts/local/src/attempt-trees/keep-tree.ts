/** Keeping an attempt's working tree: what was changed in it goes to the folder, all or none. */
import { lstatSync, readdirSync } from "node:fs";
import type { Difference } from "@lathe/overlays";
import { heldBack } from "@lathe/overlays/held-back";
import { type Failure, failure, isFailure } from "@lathe/protocol";
import type { Env } from "@lathe/system";
import { applyTree, type TreePart } from "@lathe/workspace/apply-tree";
import type { Compared } from "../forks/forks.ts";
import { interrupted, type KeepOptions, type Kept } from "../forks/keep-fork.ts";
import { runLaterDifferences } from "../forks/run-later-differences.ts";
import { workspaceFolder } from "../places/state-folder.ts";
import { isOwnChange, ownChange } from "../rules/own-places.ts";
import { recoveryText } from "../session/recovery-text.ts";
import { dropAttemptTree, type WholeTree } from "./attempt-tree.ts";
import { bare, isReached, pathOf } from "./file-state.ts";
import { prefixOf, type TreeDifferences, treeDifferences } from "./tree-differences.ts";

/**
 * *Contract:* all or none, also when the process dies in between; once nothing is held back the tree is gone.
 * `stale-version` naming what has changed in the folder since; while nobody works in the tree.
 */
export async function keepTree(env: Env, tree: WholeTree, options: KeepOptions): Promise<Kept | Failure> {
  const { base } = tree;
  let all: readonly Difference[] = [];
  let held: ReadonlyMap<string, string> = new Map();
  let stuck: ReadonlySet<string> = new Set();
  let runLater: ReadonlyMap<string, string> = new Map();
  const failed = await applyTree({
    root: base,
    journal: workspaceFolder(env, base),
    onRecovered: (recovery) => options.onRemark?.(recoveryText(recovery)),
    parts: async () => {
      const found = await treeDifferences(env, tree);
      if (options.signal?.aborted) return interrupted();
      if (isFailure(found)) return found;
      all = found.differences;
      held = heldOf(tree, found, { ...options, env });
      stuck = new Set(heldOf(tree, found, { hostRun: true, env }).keys());
      const taken = all.filter(({ path }) => !held.has(path));
      runLater = runLaterDifferences(taken, { base, upper: tree.made.cwd });
      const inTheWay = notEmpty(tree, taken);
      if (inTheWay) return inTheWay;
      return [...taken.map((one) => partOf(tree, one)), ...emptied(tree, taken)];
    },
    accept: async () => {
      const again = await treeDifferences(env, tree);
      if (options.signal?.aborted) return interrupted();
      if (isFailure(again)) return again;
      const moved = again.differences.filter(({ path, isMoved }) => isMoved && !held.has(path));
      return moved.length > 0 && !options.force ? refused(moved, tree) : undefined;
    },
  });
  if (failed) return failed;
  const undropped = held.size === 0 ? await dropAttemptTree(env, tree) : undefined;
  if (undropped) options.onRemark?.(undropped.text);
  return { kept: all.filter(({ path }) => !held.has(path)), held, stuck, from: tree.made.cwd, runLater };
}

export async function compareTree(env: Env, tree: WholeTree): Promise<Compared | Failure> {
  const found = await treeDifferences(env, tree);
  if (isFailure(found)) return found;
  const { differences } = found;
  const runLater = runLaterDifferences(differences, { base: tree.base, upper: tree.made.cwd });
  return { differences, held: heldOf(tree, found, { hostRun: false, env }), runLater };
}

/** Why some are not taken over, by path. */
function heldOf(
  { base, made }: WholeTree,
  { differences, repositories }: TreeDifferences,
  { hostRun, env }: Pick<KeepOptions, "hostRun"> & { readonly env: Env },
): ReadonlyMap<string, string> {
  const sides = { base, upper: made.cwd };
  const held = new Map(hostRun ? [] : heldBack(differences, sides));
  const isOwn = isOwnChange(env, base);
  for (const { path, fork } of differences) {
    if (isOwn(Buffer.from(path, "latin1").toString())) held.set(path, ownChange);
    if (repositories.has(path)) held.set(path, "it is a repository of its own");
    if ([base, made.cwd].some((root) => isTooLong(root, path))) held.set(path, "it is too long: over 2 GiB");
    if (fork.kind === "other") held.set(path, "a pipe, a socket or a device");
  }
  return held;
}

/** What can be put back is read whole, and Node reads no more at once. */
const maxBytes = 2 ** 31 - 1;

function isTooLong(root: string, path: string): boolean {
  const stats = isReached(root, path) ? lstatSync(pathOf(root, path), { throwIfNoEntry: false }) : undefined;
  return stats?.isFile() === true && stats.size > maxBytes;
}

function partOf({ made }: WholeTree, { path, base: before, fork: side }: Difference): TreePart {
  const from = pathOf(made.cwd, path).toString("latin1");
  const { kind, mode } = side;
  if (kind === "absent" || kind === "other") return { path, after: { type: "absent" } };
  if (kind === "folder") return { path, after: { type: "folder", mode: mode & 0o777 } };
  if (kind === "link") return { path, after: { type: "link", from } };
  return { path, after: { type: "file", from, mode: modeOf(before, mode) } };
}

/** Git knows of permissions only whether a file can be run: the rest stays as it is in the folder. */
function modeOf(before: Difference["base"], mode: number): number {
  if (before.kind !== "file") return mode & 0o777;
  const own = before.mode & 0o777;
  return (mode & 0o100) === 0 ? own & ~0o111 : own | ((own & 0o444) >> 2);
}

/** Folders of which nothing is left once these are gone; git has none that are empty. */
function emptied({ base, made }: WholeTree, taken: readonly Difference[]): readonly TreePart[] {
  const named = new Set(taken.map(({ path }) => path));
  const going = new Set(taken.filter(({ fork }) => fork.kind === "absent").map(({ path }) => path));
  const parts: TreePart[] = [];
  const isEmptied = (folder: string): boolean =>
    !named.has(folder) &&
    !isFolder(made.cwd, folder) &&
    entriesOf(base, folder).every((name) => going.has(`${folder}/${name}`));
  for (const path of going) {
    let folder = parentOf(path);
    while (folder !== "" && !going.has(folder) && isEmptied(folder)) {
      going.add(folder);
      parts.push({ path: folder, after: { type: "absent" } });
      folder = parentOf(folder);
    }
  }
  return parts;
}

/** A folder that becomes a file has to be empty by then. */
function notEmpty({ base, id }: WholeTree, taken: readonly Difference[]): Failure | undefined {
  const going = new Set(taken.filter(({ fork }) => fork.kind === "absent").map(({ path }) => path));
  const stays = (path: string): boolean =>
    !going.has(path) &&
    (!isFolder(base, path) || entriesOf(base, path).some((name) => stays(`${path}/${name}`)));
  const full = taken.find(
    ({ path, base: before, fork }) => before.kind === "folder" && fork.kind !== "folder" && stays(path),
  );
  if (!full) return undefined;
  const shown = Buffer.from(full.path, "latin1").toString();
  const text = `Nothing was changed: \`${shown}\` is no folder any more in the attempt ${id}, and holds files that git ignores or that were held back in ${base}: move them, then \`lathe fork keep ${id}\` again`;
  return failure("stale-version", text, { who: "user" });
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

function isFolder(root: string, path: string): boolean {
  return isReached(root, `${path}/x`);
}

/** One that is not to be seen has something in it. */
function entriesOf(root: string, path: string): readonly string[] {
  try {
    return readdirSync(pathOf(root, path), { encoding: "latin1" });
  } catch {
    return [""];
  }
}

const pathsNamed = 20;

function refused(moved: readonly Difference[], { base, top, id, made }: WholeTree): Failure {
  const prefix = prefixOf(top, base);
  const left = new Set(made.left?.map((name) => bare(name)));
  const isLeft = ({ path }: Difference): boolean => left.has(prefix + path);
  const [own, since] = [moved.filter(isLeft), moved.filter((one) => !isLeft(one))];
  const why = [
    ...(own.length > 0 ? [`these hold work of yours that --dirty leave left out: ${named(own)}`] : []),
    ...(since.length > 0
      ? [`these have changed in ${base} since the attempt ${id} began: ${named(since)}`]
      : []),
  ].join("; ");
  const text = `Nothing was changed: ${why}. Look at both, then \`lathe fork keep ${id} --force\` writes over them, or \`lathe fork drop ${id}\``;
  return failure("stale-version", text, { who: "user" });
}

function named(moved: readonly Difference[]): string {
  const names = moved.slice(0, pathsNamed).map(({ path }) => Buffer.from(path, "latin1").toString());
  return names.join(", ") + (moved.length > pathsNamed ? ` and ${moved.length - pathsNamed} more` : "");
}
