/** Spectrum-based fault localisation: lines that failing tests run and passing tests do not (Ochiai; Abreu et al. 2007). */

import type { Frame } from "./failure-report.ts";
import { isTestFile } from "./test-file.ts";

/** One test's run: which lines it executed, how it ended. */
export interface TestTrace {
  readonly id: string;
  readonly failed: boolean;
  /** Executed lines by workspace-relative path. */
  readonly lines: Readonly<Record<string, readonly number[]>>;
  readonly error: string;
  /** Workspace frames of the error, outermost first. */
  readonly frames: readonly Frame[];
}

/** Suspicious lines of one file, each 0 to 1. */
export interface Suspect {
  readonly path: string;
  readonly lines: ReadonlyMap<number, number>;
}

/** Ranks the lines that failing tests execute; test files are left out. */
export function suspectsOf(traces: readonly TestTrace[]): readonly Suspect[] {
  const failing = traces.filter((trace) => trace.failed);
  const failed = countByLine(failing);
  const passed = countByLine(traces.filter((trace) => !trace.failed));
  const boosts = frameBoosts(failing);
  const scores = new Map<string, number>();
  let highest = 0;
  for (const [key, bad] of failed) {
    const good = passed.get(key) ?? 0;
    const score = bad / Math.sqrt(failing.length * (bad + good));
    scores.set(key, score);
    highest = Math.max(highest, score);
  }
  const byPath = new Map<string, Map<number, number>>();
  for (const [key, score] of scores) {
    const split = key.lastIndexOf(":");
    const [path, line] = [key.slice(0, split), Number(key.slice(split + 1))];
    const lines = byPath.get(path) ?? new Map<number, number>();
    lines.set(line, Math.min(1.5, (0.25 + 0.75 * (score / highest)) * (boosts.get(key) ?? 1)));
    byPath.set(path, lines);
  }
  return [...byPath].map(([path, lines]) => ({ path, lines }));
}

function countByLine(traces: readonly TestTrace[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const trace of traces) {
    for (const [path, lines] of Object.entries(trace.lines)) {
      if (isTestFile(path)) continue;
      for (const line of lines) counts.set(`${path}:${line}`, (counts.get(`${path}:${line}`) ?? 0) + 1);
    }
  }
  return counts;
}

/** The line that raised, and those that called it. */
function frameBoosts(failing: readonly TestTrace[]): ReadonlyMap<string, number> {
  const boosts = new Map<string, number>();
  for (const trace of failing) {
    const own = trace.frames.filter((frame) => !isTestFile(frame.path));
    own.forEach((frame, index) => {
      const key = `${frame.path}:${frame.line}`;
      boosts.set(key, Math.max(boosts.get(key) ?? 1, index === own.length - 1 ? 1.4 : 1.15));
    });
  }
  return boosts;
}
