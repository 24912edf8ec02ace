/**
 * Restores files whose name is not UTF-8, which the commit engine cannot name: each one separately,
 * atomically.
 */
import { chmodSync, mkdirSync, renameSync, rmdirSync, symlinkSync, unlinkSync } from "node:fs";
import type { Failure } from "@lathe/protocol";
import { type EntryName, withEntry } from "@lathe/system/held-folder";
import { joined, shownPath } from "@lathe/system/paths";
import type { Effects } from "../commit/apply-steps.ts";
import type { Step } from "../commit/step.ts";
import { removeQuietly } from "../disk/remove-quietly.ts";
import { errorCode, fileFailure } from "../file-failure.ts";
import { type HeldPlaces, lstatAt, withPlacesSync } from "../held-places.ts";

export interface RawStep {
  /** One character per byte. */
  readonly path: string;
  /** Like the engine's step, except for its path. */
  readonly step: Step;
}

export function isRaw(path: string): boolean {
  return Buffer.from(shownPath(path), "utf8").toString("latin1") !== path;
}

/** Removes entries that must go or change their kind. `steps` lists a folder before its content. */
export function clearRaw(
  root: string,
  steps: readonly RawStep[],
  effects: Effects,
): Promise<Failure | undefined> {
  const clears = steps.toReversed().filter(({ step }) => makesWay(step));
  return applied(root, clears, { effects, effect: ({ step }, path) => remove(path, step) });
}

/** Creates the wanted entries. `root` has one character per byte. */
export function placeRaw(
  root: string,
  steps: readonly RawStep[],
  effects: Effects,
): Promise<Failure | undefined> {
  return applied(
    root,
    steps.filter(({ step }) => step.after.type !== "absent"),
    {
      effects,
      effect: ({ step }, path, places) => place(path, step, { root, effects, places }),
    },
  );
}

export function isAbsent(root: string, path: string): boolean {
  try {
    return withPlacesSync((places) => lstatAt(places, joined(root, path))) === undefined;
  } catch (error) {
    errorCode(error);
    return true;
  }
}

interface Doing {
  readonly effects: Effects;
  readonly effect: (step: RawStep, path: EntryName, places: HeldPlaces) => void;
}

async function applied(
  root: string,
  steps: readonly RawStep[],
  { effects, effect }: Doing,
): Promise<Failure | undefined> {
  if (steps.length === 0) return undefined;
  const refused = effects.journal.cover([shownPath(root)]);
  if (refused) return refused;
  return effects.withLease(async () =>
    withPlacesSync((places) =>
      eachOf(steps, (one) => {
        places.trim();
        effect(one, places.atBytes(joined(root, one.path)), places);
      }),
    ),
  );
}

function eachOf(steps: readonly RawStep[], effect: (step: RawStep) => void): Failure | undefined {
  for (const raw of steps) {
    try {
      effect(raw);
    } catch (error) {
      return fileFailure(raw.step.path, error);
    }
  }
  return undefined;
}

function makesWay({ before, after }: Step): boolean {
  if (before.type === "absent") return false;
  return after.type === "absent" || (before.type === "folder") !== (after.type === "folder");
}

function remove(path: EntryName, { before }: Step): void {
  if (before.type === "folder") rmdirSync(path);
  else unlinkSync(path);
}

interface ApplyContext {
  readonly root: string;
  readonly effects: Effects;
  readonly places: HeldPlaces;
}

function place(path: EntryName, { before, after }: Step, { root, effects, places }: ApplyContext): void {
  if (after.type === "absent") return;
  if (after.type === "folder" && before.type !== "folder") mkdirSync(path);
  if ("mode" in after && after.type !== "file" && after.mode !== undefined) changeMode(path, after.mode);
  if (after.type !== "file" && after.type !== "link") return;
  // The folder's name may not be UTF-8 either; the root's is.
  const temporary = places.at(effects.journal.temporaryIn(shownPath(root)));
  try {
    if (after.type === "link") symlinkSync(after.target, temporary);
    else if (after.copied !== undefined)
      effects.disk.copy(places.atBytes(after.copied), temporary, { mode: after.mode ?? 0o644 });
    else effects.disk.write(temporary, after.bytes, { mode: after.mode ?? 0o644 });
    renameSync(temporary, path);
  } catch (error) {
    removeQuietly(temporary);
    throw error;
  }
}

function changeMode(path: EntryName, mode: number): void {
  withEntry(path, (reached) => chmodSync(reached, mode));
}
