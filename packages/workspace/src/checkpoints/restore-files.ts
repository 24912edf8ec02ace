/** Puts the files into the state of a checkpoint, after keeping the present. */
import { relative, resolve, sep } from "node:path";
import { type Failure, isFailure, type Restored, type RestoreOptions } from "@lathe/protocol";
import { applySteps, type Effects } from "../apply-steps.ts";
import type { Step } from "../step.ts";
import { applyRaw, isRaw } from "./apply-raw.ts";
import { bytePath, shownPath } from "./byte-path.ts";
import { compareTrees } from "./compare-trees.ts";
import { withoutFullFolders } from "./full-folders.ts";
import { groupSteps, inverse, makeSteps, refreshed } from "./make-steps.ts";
import type { ObjectReader } from "./object-reader.ts";
import { conflict, planRestore, type RestorePlan } from "./plan-restore.ts";
import type { Shadow } from "./shadow.ts";

export interface RestoreRequest extends RestoreOptions {
  readonly ref: string;
}

export async function restoreFiles(
  shadow: Shadow,
  effects: Effects,
  request: RestoreRequest,
): Promise<Restored | Failure> {
  await effects.journal.recover();
  const wanted = await shadow.treeOf(request.ref);
  if (isFailure(wanted)) return wanted;
  const expected = request.expected === undefined ? undefined : await shadow.treeOf(request.expected);
  if (isFailure(expected)) return expected;
  const undo = await shadow.take(request.session, true);
  if (isFailure(undo)) return undo;
  const present = await shadow.treeOf(undo.ref);
  if (isFailure(present)) return present;
  return shadow.reading(async (reader) => {
    const trees = { present, wanted, expected };
    const plan = await planFor(shadow, reader, { trees, request });
    if (isFailure(plan)) return plan;
    const failed = await carryOut(shadow, effects, { plan, reader });
    if (failed) return failed;
    const now = await shadow.take(request.session, true);
    const changed = plan.steps.map(({ path }) => shownPath(path));
    const left = plan.left.map(({ path, why }) => ({ path: shownPath(path), why }));
    // It is done: a failure here would say that it is not.
    return { undo: undo.ref, now: isFailure(now) ? request.ref : now.ref, changed, left };
  });
}

interface PlanOptions {
  readonly trees: {
    readonly present: string;
    readonly wanted: string;
    readonly expected: string | undefined;
  };
  readonly request: RestoreRequest;
}

async function planFor(
  shadow: Shadow,
  reader: ObjectReader,
  { trees, request }: PlanOptions,
): Promise<RestorePlan | Failure> {
  const changes = await compareTrees(reader, trees.present, trees.wanted);
  if (isFailure(changes)) return changes;
  const root = shownPath(shadow.root);
  const paths = request.paths?.map((path) =>
    bytePath(relative(root, resolve(root, path)).replaceAll(sep, "/")),
  );
  if (trees.expected === undefined) return withoutFullFolders(shadow.root, planRestore(changes, paths));
  const own = await compareTrees(reader, trees.expected, trees.wanted);
  if (isFailure(own)) return own;
  const ownPaths = new Set(own.map(({ path }) => path));
  const plan = planRestore(
    changes.filter(({ path }) => ownPaths.has(path)),
    paths,
  );
  const since = await compareTrees(reader, trees.expected, trees.present);
  if (isFailure(since)) return since;
  const refused = request.force ? undefined : conflict(plan, since);
  return refused ?? withoutFullFolders(shadow.root, plan);
}

interface Work {
  readonly plan: RestorePlan;
  readonly reader: ObjectReader;
}

async function carryOut(
  shadow: Shadow,
  effects: Effects,
  { plan, reader }: Work,
): Promise<Failure | undefined> {
  const { root } = shadow;
  const steps = await makeSteps(root, plan.steps, reader);
  if (isFailure(steps)) return steps;
  const paths = plan.steps.map(({ path }) => path);
  const raw = steps.flatMap((step, i) => (isRaw(paths[i] ?? "") ? [{ path: paths[i] ?? "", step }] : []));
  const plain = steps.filter((_, i) => !isRaw(paths[i] ?? ""));
  const groups = groupSteps(shownPath(root), plain);
  const failed =
    (await apply(groups.first, effects)) ??
    (await applyRaw(root, raw, effects)) ??
    (await apply(groups.main.map(refreshed), effects));
  if (!failed) return closeFolders(groups.last, effects);
  await apply(groups.first.map(inverse), effects);
  return failed;
}

async function closeFolders(steps: readonly Step[], effects: Effects): Promise<Failure | undefined> {
  const failed = await apply(steps.map(refreshed), effects);
  return failed && { ...failed, text: `All is restored but the permissions of folders: ${failed.text}` };
}

async function apply(steps: readonly Step[], effects: Effects): Promise<Failure | undefined> {
  return steps.length === 0 ? undefined : applySteps(steps, effects);
}
