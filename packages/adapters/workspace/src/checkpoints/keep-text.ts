/** Stores a small text in a file that others may be reading; usually it is there already. */
import { readFileSync } from "node:fs";
import { writeWhole } from "@lathe/system";

export function keepText(path: string, text: string): void {
  if (textOf(path) !== text) writeWhole(path, text);
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // Missing or unreadable: writing it will report why.
    return undefined;
  }
}
