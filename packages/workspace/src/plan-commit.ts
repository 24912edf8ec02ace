/** What a commit is about to do to each file, after checking that each is what the caller thinks it is. */
import { accessSync, constants, type Stats, statSync } from "node:fs";
import { type Change, type Failure, failure, isFailure } from "@lathe/protocol";
import { fileFailure } from "./file-failure.ts";
import { readBytes, versionOf } from "./read-file.ts";
import { type Resolved, resolvePath } from "./resolve-path.ts";

/** One file's part: its bytes now (`stats` absent where there is none) and after (absent: deleted). */
export interface Step extends Resolved {
  readonly before?: string;
  readonly stats?: Stats;
  readonly after?: { readonly bytes: Buffer; readonly version: string };
}

/** Refuses the whole commit if one change is refused; reads only. */
export function planCommit(root: string, changes: readonly Change[]): readonly Step[] | Failure {
  const steps: Step[] = [];
  for (const change of changes) {
    const step = planChange(root, change);
    if (isFailure(step)) return step;
    if (steps.some((other) => other.absolute === step.absolute)) {
      return failure("invalid-arguments", `${step.path} is named twice in one commit: join the changes.`);
    }
    steps.push(step);
  }
  return steps;
}

function planChange(root: string, change: Change): Step | Failure {
  const resolved = resolvePath(root, change.path);
  if (isFailure(resolved)) return resolved;
  const current = readBytes(resolved);
  if (isFailure(current)) return current;
  const before = current && versionOf(current.bytes);
  const stale = staleness(resolved.path, change.expected, before);
  if (stale) return stale;
  const now = current === undefined || before === undefined ? {} : { before, stats: current.stats };
  if (change.type === "delete") return { ...resolved, ...now };
  if (current) {
    try {
      // A rename would replace a file that its owner has made read-only.
      accessSync(resolved.absolute, constants.W_OK);
    } catch (error) {
      return fileFailure(resolved.path, error);
    }
  }
  const bytes = Buffer.from(change.text);
  return { ...resolved, ...now, after: { bytes, version: versionOf(bytes) } };
}

function staleness(path: string, expected: string | null, now: string | undefined): Failure | undefined {
  if ((expected ?? undefined) === now) return undefined;
  if (expected === null) return failure("already-exists", `${path} already exists.`);
  if (now === undefined) return failure("stale-version", `${path} does not exist any more.`);
  return failure("stale-version", `${path} has changed since it was read: read it again.`);
}

/** What has changed on disk since the plan was made, looked at right before the effect. */
export function changedSince(steps: readonly Step[]): Failure | undefined {
  for (const { path, absolute, stats } of steps) {
    const now = statSync(absolute, { throwIfNoEntry: false });
    if (!stats && now) return failure("already-exists", `${path} was created by somebody else just now.`);
    if (stats && !isSame(stats, now)) {
      return failure("stale-version", `${path} was changed by somebody else just now: read it again.`);
    }
  }
  return undefined;
}

function isSame(a: Stats, b: Stats | undefined): boolean {
  return a.ino === b?.ino && a.size === b.size && a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs;
}
