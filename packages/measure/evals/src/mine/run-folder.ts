/** Run folder: what one run of tests is given and where it says what became of them, new for each and read with care. */
import { cpSync, mkdtempSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isStill, type OwnFolder, ownFolder, readPlain } from "../own-files.ts";

export interface RunFolder extends OwnFolder {
  readonly name: string;
}

const scripts = fileURLToPath(new URL("../../task/", import.meta.url));
const maxResults = 64_000_000;

/** Its name is known to nothing that ran before, so that nothing waits there. */
export function openRunFolder(folder: string, plan: unknown): RunFolder {
  const own = ownFolder(mkdtempSync(join(folder, "run-")));
  for (const name of ["run_tests.py", "run-tests.mjs"])
    cpSync(join(scripts, name), join(own.path, name), { errorOnExist: true, force: false });
  writeFileSync(join(own.path, "plan.json"), JSON.stringify(plan), { flag: "wx" });
  return { ...own, name: basename(own.path) };
}

/** Undefined where the tests left no results, or something else in their place. */
export function readRun(own: RunFolder): string | undefined {
  return isStill(own) ? readPlain(join(own.path, "results.json"), maxResults) : undefined;
}
