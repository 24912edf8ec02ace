/** Compares two runs of the same tasks. */

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type ComparedRun, compareSuites } from "@lathe/evals";
import { type Failure, isFailure } from "@lathe/protocol";
import { paletteFor } from "@lathe/terminal";
import { comparisonText } from "./eval-text.ts";

export function compareEvals([first, second]: readonly [string, string], json: boolean): number | Failure {
  const compared = compareSuites(runOf(first), runOf(second));
  if (isFailure(compared)) return compared;
  const paint = paletteFor(process.stdout, process.env);
  process.stdout.write(json ? `${JSON.stringify(compared)}\n` : comparisonText(compared, paint));
  return 0;
}

/** Reads `DIR` or `DIR:MODEL`; a model's ID may contain a colon. */
function runOf(words: string): ComparedRun {
  const at = words.indexOf(":");
  if (at < 0 || existsSync(words)) return { folder: resolve(words) };
  return { folder: resolve(words.slice(0, at)), agent: words.slice(at + 1) };
}
