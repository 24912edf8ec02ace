/** The shell that runs commands: bash without its start files, sh where there is no bash. */
import { accessSync, constants, existsSync, writeFileSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

/** One argument may have 128 KB on Linux; a longer script is run from a file. */
const longestArgument = 100_000;

export interface Shell {
  readonly file: string;
  readonly options: readonly string[];
}

/** The first executable of that name in the folders of a PATH. */
export function findProgram(name: string, path: string): string | undefined {
  const folders = path.split(delimiter).filter(isAbsolute);
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

/** The shell for commands with this PATH, by its path. */
export function findShell(path: string): Shell {
  const places = `${path}${delimiter}/bin${delimiter}/usr/bin${delimiter}/usr/local/bin`;
  const bash = findProgram("bash", places);
  if (bash) return { file: bash, options: ["--norc", "--noprofile"] };
  return { file: findProgram("sh", places) ?? "/bin/sh", options: [] };
}

/** The shell's arguments for a script; a very long one is first written to `longFile`. */
export function shellArgs(shell: Shell, script: string, longFile: () => string): readonly string[] {
  if (Buffer.byteLength(script) <= longestArgument) return [...shell.options, "-c", script];
  const file = longFile();
  writeFileSync(file, script, { mode: 0o600 });
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
