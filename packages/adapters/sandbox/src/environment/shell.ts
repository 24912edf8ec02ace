/** The shell that runs commands: bash without its start files, sh where there is no bash. */
import { randomBytes } from "node:crypto";
import { accessSync, constants, existsSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { findProgram } from "@lathe/system";

/** One argument may have 128 KB on Linux; a longer script is run from a file. */
const longestArgument = 100_000;

export interface Shell {
  readonly file: string;
  readonly options: readonly string[];
}

/** The shell for commands with this PATH, by its path; not one that the workspace brings. */
export function findShell(path: string, workspace: string): Shell {
  const places = {
    path: `${path}${delimiter}/bin${delimiter}/usr/bin${delimiter}/usr/local/bin`,
    outside: [workspace],
  };
  const bash = findProgram("bash", places);
  if (bash) return { file: bash, options: ["--norc", "--noprofile"] };
  return { file: findProgram("sh", places) ?? "/bin/sh", options: [] };
}

/** The shell's arguments for a script; a very long one is first written to a new file in `folder`. */
export function shellArgs(shell: Shell, script: string, folder: string): readonly string[] {
  if (Buffer.byteLength(script) <= longestArgument) return [...shell.options, "-c", script];
  const file = join(folder, `script-${randomBytes(12).toString("hex")}.sh`);
  // Commands can write there too: one may have put a link in its place.
  writeFileSync(file, script, { mode: 0o600, flag: "wx" });
  return [...shell.options, file];
}

export function isExecutable(path: string): boolean {
  // Mostly there is nothing, and an error takes long to make.
  if (!existsSync(path)) return false;
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
