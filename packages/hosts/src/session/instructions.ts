/** Instructions: what the workspace itself tells an agent, from AGENTS.md or CLAUDE.md at its root. */
import { isFailure } from "@lathe/protocol";
import type { FileStart } from "../places/regular-file.ts";
import { readRootFile } from "../places/root-file.ts";

const names = ["AGENTS.md", "CLAUDE.md"];
const limit = 8 * 1024;

export interface Instructions {
  readonly texts: readonly { readonly path: string; readonly text: string }[];
  /** Which files were left out and why, one sentence each. */
  readonly leftOut: readonly string[];
}

/** The first of the files that is there, cut at 8 KB. */
export function readInstructions(cwd: string): Instructions {
  return readIn(cwd, "");
}

/** Bytes given at once; the rest is named. */
const mostAtOnce = 3 * limit;

/** What the folders say, the outer ones first. */
export function nestedInstructions(
  cwd: string,
  redact: (text: string) => Promise<string>,
): (folders: readonly string[]) => Promise<Instructions["texts"]> {
  return async (folders) => {
    const found = folders.flatMap((folder) => readIn(cwd, folder).texts);
    let left = mostAtOnce;
    const given = found.map(({ path, text }) => {
      left -= text.length;
      return { path, text: left >= 0 ? text : `[too long to be given here: read ${path}]` };
    });
    return Promise.all(given.map(async ({ path, text }) => ({ path, text: await redact(text) })));
  };
}

function readIn(cwd: string, folder: string): Instructions {
  const leftOut: string[] = [];
  for (const name of names) {
    const path = folder === "" ? name : `${folder}/${name}`;
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
