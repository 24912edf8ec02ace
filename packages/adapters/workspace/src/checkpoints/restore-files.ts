/** Puts the files into the state of a checkpoint, after keeping the present. */
import {
  type Failure,
  type FailureCode,
  isFailure,
  type RestoreOptions,
  type RestoreResult,
} from "@lathe/protocol";
import { bytePath, shownPath } from "@lathe/system/paths";
import { applySteps, type Effects } from "../commit/apply-steps.ts";
import type { Step } from "../commit/step.ts";
import { clearRaw, isAbsent, isRaw, placeRaw, type RawStep } from "./apply-raw.ts";
import { compareTrees, type TreeChange } from "./compare-trees.ts";
import { withoutFullFolders } from "./full-folders.ts";
import { groupSteps, inverse, makeSteps, refreshed, withModeNow } from "./make-steps.ts";
import type { ObjectReader } from "./object-reader.ts";
import { cancelled } from "./pace.ts";
import { conflict, planRestore, type RestorePlan } from "./plan-restore.ts";
import type { Shadow } from "./shadow.ts";

const passing: ReadonlySet<FailureCode> = new Set(["disk-full", "no-access", "stale-version"]);

export interface RestoreRequest extends RestoreOptions {
  readonly ref: string;
}

export async function restoreFiles(
  shadow: Shadow,
  effects: Effects,
  request: RestoreRequest,
): Promise<RestoreResult | Failure> {
  await effects.journal.recover();
  const { signal } = effects;
  const wanted = await shadow.treeOf(request.ref, { signal });
  if (isFailure(wanted)) return wanted;
  const expected =
    request.expected === undefined ? undefined : await shadow.treeOf(request.expected, { signal });
  if (isFailure(expected)) return expected;
  const undo = await shadow.take(request.session, { urgent: true, signal });
  if (isFailure(undo)) return undo;
  const present = await shadow.treeOf(undo.ref, { signal });
  if (isFailure(present)) return present;
  const work = async (reader: ObjectReader): Promise<RestoreResult | Failure> => {
    const trees = { present, wanted, expected };
    const plan = await planFor(shadow, reader, { trees, request });
    if (isFailure(plan)) return plan;
    const failed = await carryOut(shadow, effects, { plan, reader });
    // The engine's failures are a tool's, who does not try again by himself.
    if (failed) return passing.has(failed.code) ? { ...failed, retry: "same" } : failed;
    const now = await shadow.take(request.session, { urgent: true });
    const changed = plan.steps.map(({ path }) => shownPath(path));
    const left = plan.left.map(({ path, why }) => ({ path: shownPath(path), why }));
    // It is done: a failure here would say that it is not.
    return { undo: undo.ref, now: isFailure(now) ? request.ref : now.ref, changed, left };
  };
  return shadow.reading(work, { signal });
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
  const all = await compareTrees(reader, trees.present, trees.wanted);
  if (isFailure(all)) return all;
  const spared = new Set((request.spare ?? []).map(bytePath));
  const changes = all.filter(({ path }) => !spared.has(path));
  if (trees.expected === undefined) return withoutFullFolders(shadow.root, planRestore(changes), all);
  const own = await compareTrees(reader, trees.expected, trees.wanted);
  if (isFailure(own)) return own;
  const ownPaths = new Set(own.map(({ path }) => path));
  const plan = planRestore(changes.filter(({ path }) => ownPaths.has(path)));
  const since = await compareTrees(reader, trees.expected, trees.present);
  if (isFailure(since)) return since;
  const refused = request.force ? undefined : conflict(plan, since);
  return refused ?? withoutFullFolders(shadow.root, plan, all);
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
  const raw = plan.steps.flatMap((change, i) => {
    const step = steps[i];
    return step && isRaw(change.path) ? [{ path: change.path, step, change }] : [];
  });
  const plain = steps.filter((_, i) => !isRaw(plan.steps[i]?.path ?? ""));
  const groups = groupSteps(shownPath(root), plain);
  // Once anything has changed it is carried through.
  const begun: Effects = { ...effects, signal: undefined };
  const isAtOnce = groups.first.length === 0 && raw.length === 0;
  if (effects.signal?.aborted) return cancelled();
  const refused = await apply(groups.first, effects);
  if (refused) return refused;
  const failed =
    (await clearRaw(root, raw, begun)) ??
    (await apply(groups.main.map(withModeNow), isAtOnce ? effects : begun));
  if (failed) {
    await putRawBack(shadow, raw, begun);
    await apply(groups.first.map(inverse), begun);
    return failed;
  }
  return (await placeRaw(root, raw, begun)) ?? closeFolders(groups.last, begun);
}

interface RawChange extends RawStep {
  readonly change: TreeChange;
}

async function putRawBack(shadow: Shadow, raw: readonly RawChange[], effects: Effects): Promise<void> {
  const gone = raw.map(({ change }) => change).filter(({ before }) => before !== undefined);
  await shadow.reading(async (reader) => {
    const back = gone.filter(({ path }) => isAbsent(shadow.root, path));
    const steps = await makeSteps(
      shadow.root,
      back.map(({ path, before }) => ({ path, after: before })),
      reader,
    );
    if (isFailure(steps)) return;
    const again = steps.map((step, i) => ({ path: back[i]?.path ?? "", step }));
    await placeRaw(shadow.root, again, effects);
  }, {});
}

async function closeFolders(steps: readonly Step[], effects: Effects): Promise<Failure | undefined> {
  const failed = await apply(steps.map(refreshed), effects);
  return failed && { ...failed, text: `All is restored but the permissions of folders: ${failed.text}` };
}

async function apply(steps: readonly Step[], effects: Effects): Promise<Failure | undefined> {
  return steps.length === 0 ? undefined : applySteps(steps, effects);
}
