/** Instructions: what the workspace itself tells an agent, from AGENTS.md or CLAUDE.md at its root. */
import { isFailure } from "@lathe/protocol";
import type { FileStart } from "./regular-file.ts";
import { readRootFile } from "./root-file.ts";

const names = ["AGENTS.md", "CLAUDE.md"];
const limit = 8 * 1024;

export interface Instructions {
  readonly texts: readonly { readonly path: string; readonly text: string }[];
  /** Which files were left out and why, one sentence each. */
  readonly leftOut: readonly string[];
}

/** The first of the files that is there, cut at 8 KB. */
export function readInstructions(cwd: string): Instructions {
  const leftOut: string[] = [];
  for (const path of names) {
    const file = readRootFile(cwd, path, limit);
    if (file === undefined) continue;
    if (!isFailure(file)) return { texts: textsOf(path, file), leftOut };
    leftOut.push(`the instructions were left out: ${file.text}`);
  }
  return { texts: [], leftOut };
}

function textsOf(path: string, { bytes, cut }: FileStart): Instructions["texts"] {
  const text = new TextDecoder().decode(bytes, { stream: cut });
  if (text.trim() === "") return [];
  return [{ path, text: cut ? `${text}\n[cut at ${limit} bytes: read ${path} for the rest]` : text }];
}
