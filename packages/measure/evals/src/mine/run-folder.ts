/** Run folder: input and results of one test run; new for each run, and read with care. */
import { cpSync, mkdtempSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isStill, type OwnFolder, ownFolder, readPlain } from "../own-files.ts";

export interface RunFolder extends OwnFolder {
  readonly name: string;
}

const scripts = fileURLToPath(new URL("../../task/", import.meta.url));
const maxResults = 64_000_000;

/** No earlier process knows its name, so no trap can wait there. */
export function openRunFolder(folder: string, plan: unknown): RunFolder {
  const own = ownFolder(mkdtempSync(join(folder, "run-")));
  for (const name of ["run_tests.py", "run-tests.mjs"])
    cpSync(join(scripts, name), join(own.path, name), { errorOnExist: true, force: false });
  writeFileSync(join(own.path, "plan.json"), JSON.stringify(plan), { flag: "wx" });
  return { ...own, name: basename(own.path) };
}

/** Undefined if the tests left no results, or replaced the folder. */
export function readRun(own: RunFolder): string | undefined {
  return isStill(own) ? readPlain(join(own.path, "results.json"), maxResults) : undefined;
}
