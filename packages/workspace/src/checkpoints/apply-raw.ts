/** Restores what has a name that is not UTF-8, which the commit engine cannot speak of: each file by itself, atomically. */
import { chmodSync, mkdirSync, renameSync, rmdirSync, symlinkSync, unlinkSync } from "node:fs";
import type { Failure } from "@lathe/protocol";
import type { Effects } from "../apply-steps.ts";
import { fileFailure } from "../file-failure.ts";
import type { Step } from "../step.ts";
import { diskPath, joined, shownPath } from "./byte-path.ts";

export interface RawStep {
  /** One character per byte. */
  readonly path: string;
  /** As for the engine, but for its path. */
  readonly step: Step;
}

export function isRaw(path: string): boolean {
  return Buffer.from(shownPath(path), "utf8").toString("latin1") !== path;
}

/** `steps`: a folder before what is in it. `root`: one character per byte. */
export async function applyRaw(
  root: string,
  steps: readonly RawStep[],
  effects: Effects,
): Promise<Failure | undefined> {
  if (steps.length === 0) return undefined;
  const refused = effects.journal.cover([shownPath(root)]);
  if (refused) return refused;
  return effects.fenced(async () => {
    const clears = steps.toReversed().filter(({ step }) => makesWay(step));
    const places = steps.filter(({ step }) => step.after.type !== "absent");
    return (
      eachOf(clears, ({ path, step }) => remove(diskPath(joined(root, path)), step)) ??
      eachOf(places, ({ path, step }) => place(diskPath(joined(root, path)), step, { root, effects }))
    );
  });
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

function remove(path: string | Buffer, { before }: Step): void {
  if (before.type === "folder") rmdirSync(path);
  else unlinkSync(path);
}

interface Surroundings {
  readonly root: string;
  readonly effects: Effects;
}

function place(path: string | Buffer, { before, after }: Step, { root, effects }: Surroundings): void {
  if (after.type === "absent") return;
  if (after.type === "folder" && before.type !== "folder") mkdirSync(path);
  if ("mode" in after && after.type !== "file" && after.mode !== undefined) chmodSync(path, after.mode);
  if (after.type !== "file" && after.type !== "link") return;
  // A folder's name may be no UTF-8 either, the root's is.
  const temporary = effects.journal.temporaryIn(shownPath(root));
  try {
    if (after.type === "link") symlinkSync(after.target, temporary);
    else effects.disk.write(temporary, after.bytes, { mode: after.mode ?? 0o644 });
    renameSync(temporary, path);
  } catch (error) {
    unlinkQuietly(temporary);
    throw error;
  }
}

function unlinkQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It was not made.
  }
}
