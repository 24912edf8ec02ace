/** The last word on a candidate: the whole test command. */

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { applied, type Candidate } from "./candidates.ts";
import { type Bench, runTests } from "./suite.ts";

/** Runs the whole test command with a candidate applied in a copy. */
export async function passesAll(bench: Bench, slot: string, candidate: Candidate): Promise<boolean> {
  const text = await bench.text(candidate.path);
  const target = join(slot, candidate.path);
  await writeFile(target, applied(text, candidate));
  const result = await runTests(bench, bench.command, { slot, timeoutMs: 60_000 });
  await writeFile(target, text);
  return result.exitCode === 0 && !result.timedOut;
}
