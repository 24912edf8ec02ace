/**
 * A folder outside every workspace that a grant can open: not below /tmp, because commands have their own.
 */
import { mkdtempSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** *Contract:* the caller removes it. */
export function makeOutsideFolder(): string {
  const here = realpathSync(join(import.meta.dirname, "../../../e2e"));
  const base = here.startsWith("/tmp/") ? realpathSync(homedir()) : here;
  return mkdtempSync(join(base, ".data-"));
}
