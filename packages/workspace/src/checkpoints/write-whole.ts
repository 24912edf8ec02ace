/** Writes a small file that others may be reading: they find the old one or the new one, and mostly it is there already. */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { uniqueName } from "./process-marks.ts";

export function writeWhole(path: string, text: string): void {
  if (textOf(path) === text) return;
  const temporary = `${path}.tmp-${uniqueName()}`;
  writeFileSync(temporary, text, { mode: 0o600 });
  renameSync(temporary, path);
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // Not there yet, or not to be read: writing it will say why.
    return undefined;
  }
}
