/** Instructions: what the workspace itself tells an agent, from AGENTS.md or CLAUDE.md at its root. */
import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";

const names = ["AGENTS.md", "CLAUDE.md"];
const limit = 8 * 1024;

export interface Instructions {
  readonly path: string;
  readonly text: string;
}

/** The first of the files that is there, cut at 8 KB. */
export function readInstructions(cwd: string): readonly Instructions[] {
  for (const path of names) {
    const text = readStart(cwd, path);
    if (text !== undefined) return text.trim() === "" ? [] : [{ path, text }];
  }
  return [];
}

function readStart(cwd: string, path: string): string | undefined {
  try {
    const file = openSync(join(cwd, path), "r");
    try {
      const bytes = Buffer.alloc(limit + 1);
      const read = readSync(file, bytes, 0, limit + 1, 0);
      const whole = read <= limit;
      const text = new TextDecoder().decode(bytes.subarray(0, Math.min(read, limit)), { stream: !whole });
      return whole ? text : `${text}\n[cut at ${limit} bytes: read ${path} for the rest]`;
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}
