/** The shell that runs commands: bash without its startup files, or sh if there is no bash. */
import { randomBytes } from "node:crypto";
import { accessSync, constants, existsSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { findProgram } from "@lathe/system";

/** Linux limits one argument to 128 KB; a longer script runs from a file. */
const longestArgument = 100_000;

export interface Shell {
  readonly file: string;
  readonly options: readonly string[];
}

/** Finds the path of a shell on this PATH; skips any shell inside the workspace. */
export function findShell(path: string, workspace: string): Shell {
  const places = {
    path: `${path}${delimiter}/bin${delimiter}/usr/bin${delimiter}/usr/local/bin`,
    outside: [workspace],
  };
  const bash = findProgram("bash", places);
  if (bash) return { file: bash, options: ["--norc", "--noprofile"] };
  return { file: findProgram("sh", places) ?? "/bin/sh", options: [] };
}

/**
 * Arguments that make the shell run a script; a very long script is first written to a new file in `folder`.
 */
export function shellArgs(shell: Shell, script: string, folder: string): readonly string[] {
  if (Buffer.byteLength(script) <= longestArgument) return [...shell.options, "-c", script];
  const file = join(folder, `script-${randomBytes(12).toString("hex")}.sh`);
  // Commands can write to this folder too, so the file must not exist yet: it could be their link.
  writeFileSync(file, script, { mode: 0o600, flag: "wx" });
  return [...shell.options, file];
}

export function isExecutable(path: string): boolean {
  // Usually the file is missing, and creating an error is slow.
  if (!existsSync(path)) return false;
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
