/** Applies many files, folders and links of another tree to a folder, all or none: used to apply a fork. */
import { createHash } from "node:crypto";
import { closeSync, fstatSync, readFileSync, readlinkSync, readSync, realpathSync } from "node:fs";
import { type Failure, failure, isFailure } from "@lathe/protocol";
import { openEntry } from "@lathe/system/held-folder";
import { bytePath, joined, shownPath } from "@lathe/system/paths";
import { clearRaw, isAbsent, isRaw, placeRaw, type RawStep } from "./checkpoints/apply-raw.ts";
import { groupSteps, inverse, refreshed, withModeNow } from "./checkpoints/make-steps.ts";
import { isBelowOne } from "./checkpoints/plan-restore.ts";
import { applySteps, type Effects } from "./commit/apply-steps.ts";
import { type After, fileAfter, type Step } from "./commit/step.ts";
import { nodeDisk } from "./disk/disk.ts";
import { fileFailure } from "./file-failure.ts";
import { type HeldPlaces, lstatAt, withPlacesSync } from "./held-places.ts";
import { fileJournal } from "./journal/file-journal.ts";
import { isOwnerAlive } from "./journal/process-owner.ts";
import type { Recovery } from "./journal/recover-journals.ts";
import type { State } from "./reading/state.ts";

/** The new state of a path below the root; the path uses `/` and one character per byte. */
export interface TreePart {
  readonly path: string;
  readonly after:
    | { readonly type: "absent" }
    /**
     * `from` is absolute, with one character per byte, and ends with `path`; its file must not change
     * meanwhile.
     */
    | { readonly type: "file"; readonly from: string; readonly mode: number }
    | { readonly type: "link"; readonly from: string }
    | { readonly type: "folder"; readonly mode: number }
    | { readonly type: "mode"; readonly mode: number };
}

export interface TreeOptions {
  readonly root: string;
  /** A folder for this root alone, like a workspace's. */
  readonly journal: string;
  readonly onRecovered?: ((recovery: Recovery) => void) | undefined;
  /** Called once leftovers of a dead process have been reverted. */
  readonly parts: () => Promise<readonly TreePart[] | Failure>;
  /** Receives the state found at each path before anything changes: the last chance to refuse. */
  readonly accept: (found: readonly FoundPart[]) => Promise<Failure | undefined>;
}

/** Two texts that are equal if kind, content and permissions are. */
export interface FoundPart {
  readonly path: string;
  readonly now: string;
  readonly wanted: string;
}

/** *Contract:* all or none, except names that are not UTF-8: each of those files is complete. */
export async function applyTree(options: TreeOptions): Promise<Failure | undefined> {
  const { journal: folder, onRecovered, accept } = options;
  const root = realpathSync.native(options.root);
  const isAlive = isOwnerAlive;
  const journal = fileJournal({ folder, root, disk: nodeDisk, isAlive, onRecovered });
  const effects: Effects = { disk: nodeDisk, withLease: (effect) => effect(), journal };
  try {
    // Reverts a dead process's half-done change before anything is compared.
    await journal.recover();
    const parts = await options.parts();
    if (isFailure(parts)) return parts;
    const steps = withPlacesSync((places) => stepsOf(root, parts, places));
    if (isFailure(steps)) return steps;
    return (await accept(steps.map(foundPart))) ?? (await carryOut(root, steps, effects));
  } finally {
    await journal.close();
  }
}

function foundPart({ path, step: { before, after } }: RawStep): FoundPart {
  return { path, now: textOf(before), wanted: textOf(after) };
}

function textOf(state: State | After): string {
  const mode = "stats" in state ? state.stats.mode : "mode" in state ? state.mode : undefined;
  const bits = mode === undefined ? "" : (mode & 0o777).toString(8);
  if (state.type === "file") return `file ${state.version} ${bits}`;
  if (state.type === "link") return `link ${state.target}`;
  return `${state.type} ${bits}`;
}

function stepsOf(root: string, parts: readonly TreePart[], places: HeldPlaces): readonly RawStep[] | Failure {
  const steps: RawStep[] = [];
  const links = new Set<string>();
  const realTree = treeFinder();
  for (const { path, after } of parts) {
    const shown = shownPath(path);
    try {
      places.trim();
      // A path below a link that is to become a folder is not part of this tree.
      const before = isBelowOne(path, links)
        ? ({ type: "absent" } as const)
        : stateAt(joined(bytePath(root), path), places);
      if (before.type === "link") links.add(path);
      const real = "from" in after ? { ...after, from: realTree(after.from, path) } : after;
      const step: Step = { path: shown, absolute: joined(root, shown), before, after: afterOf(real, places) };
      const isOther = before.type === "other";
      if (isOther) return failure("not-a-file", `${shown} is a pipe, a socket or a device: remove it first`);
      if (real.type === "link" && !isText(real.from, places))
        return failure("not-text", `${shown} is a link whose target is not UTF-8: make it by hand`);
      steps.push({ path, step });
    } catch (error) {
      return fileFailure(shown, error);
    }
  }
  return steps;
}

/** The source tree's path may have links in it; below the tree no link is followed. */
function treeFinder(): (from: string, path: string) => string {
  const known = new Map<string, string>();
  return (from, path) => {
    const tree = from.slice(0, Math.max(0, from.length - path.length - 1));
    const real = known.get(tree) ?? bytePath(realpathSync.native(shownPath(tree)));
    known.set(tree, real);
    return joined(real, path);
  };
}

function afterOf(after: TreePart["after"], places: HeldPlaces): After {
  if (after.type === "link") {
    const target = readlinkSync(places.atBytes(after.from), { encoding: "buffer" });
    return { type: "link", target: target.toString("utf8") };
  }
  if (after.type !== "file") return after;
  const { from: copied, mode } = after;
  return { type: "file", bytes: Buffer.alloc(0), copied, version: hashOf(copied, places), mode };
}

/** Whether a link's target can be represented as text. */
function isText(from: string, places: HeldPlaces): boolean {
  const target = readlinkSync(places.atBytes(from), { encoding: "buffer" });
  return Buffer.from(target.toString("utf8")).equals(target);
}

/** Like `stateOf`, for a path of any bytes and a file of any length. */
function stateAt(absolute: string, places: HeldPlaces): State {
  const stats = lstatAt(places, absolute);
  if (!stats) return { type: "absent" };
  if (stats.isFile()) return { type: "file", version: hashOf(absolute, places), stats };
  if (!stats.isSymbolicLink()) return { type: stats.isDirectory() ? "folder" : "other", stats };
  const target = readlinkSync(places.atBytes(absolute), { encoding: "buffer" });
  return { type: "link", target: target.toString("utf8"), stats };
}

const chunkBytes = 1024 * 1024;

/** Hash of the bytes, like `versionOf`. */
function hashOf(path: string, places: HeldPlaces): string {
  const file = openEntry(places.atBytes(path));
  try {
    if (!fstatSync(file).isFile()) throw Object.assign(new Error(`EINVAL: ${path}`), { code: "EINVAL" });
    const hash = createHash("sha256");
    const chunk = Buffer.allocUnsafe(chunkBytes);
    for (let size = readSync(file, chunk); size > 0; size = readSync(file, chunk))
      hash.update(chunk.subarray(0, size));
    return hash.digest("hex");
  } finally {
    closeSync(file);
  }
}

async function carryOut(
  root: string,
  all: readonly RawStep[],
  effects: Effects,
): Promise<Failure | undefined> {
  const raw = all.filter(({ path }) => isRaw(path));
  const groups = groupSteps(
    root,
    all.filter(({ path }) => !isRaw(path)).map(({ step }) => step),
  );
  const back = withPlacesSync((places) => raw.flatMap((one) => wayBack(one, places)));
  const opened = await apply(groups.first, effects);
  if (opened) return opened;
  const failed =
    (await clearRaw(bytePath(root), raw, effects)) ?? (await apply(groups.main.map(withModeNow), effects));
  if (failed) {
    const gone = back.filter(({ path }) => isAbsent(bytePath(root), path));
    await placeRaw(bytePath(root), gone, effects);
    await apply(groups.first.map(inverse), effects);
    return failed;
  }
  return (await placeRaw(bytePath(root), raw, effects)) ?? apply(groups.last.map(refreshed), effects);
}

/** Keeps the bytes of files whose name is not UTF-8: the journal cannot name them. */
function wayBack({ path, step }: RawStep, places: HeldPlaces): readonly RawStep[] {
  places.trim();
  const { before, absolute } = step;
  if (before.type === "absent" || before.type === "other") return [];
  const after: After =
    before.type === "file"
      ? fileAfter(bytesAt(bytePathOf(absolute, path), places), before.stats.mode & 0o777)
      : before.type === "link"
        ? before
        : { type: "folder", mode: before.stats.mode & 0o777 };
  return [{ path, step: { ...step, before: { type: "absent" }, after } }];
}

function bytesAt(path: string, places: HeldPlaces): Buffer {
  const file = openEntry(places.atBytes(path));
  try {
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

/** The root's part of a displayed path; the rest unchanged. */
function bytePathOf(absolute: string, path: string): string {
  return joined(bytePath(absolute.slice(0, absolute.length - shownPath(path).length - 1)), path);
}

async function apply(steps: readonly Step[], effects: Effects): Promise<Failure | undefined> {
  return steps.length === 0 ? undefined : applySteps(steps, effects);
}
