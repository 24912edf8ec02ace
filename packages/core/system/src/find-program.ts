/**
 * Finds programs that Lathe starts outside the sandbox, by their absolute paths. Entries of PATH that are relative or empty
 * do not count, since they name whatever the current folder holds, and neither do those inside the workspace, whose
 * programs are its authors'.
 */
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join, sep } from "node:path";
import { isBelow } from "./paths/is-below.ts";

export interface ProgramPlace {
  /** The variable PATH. */
  readonly path: string | undefined;
  /** Folders whose programs do not count: the workspace. */
  readonly outside?: readonly string[];
}

/** Where systems keep the programs that come with them. */
export const systemPath =
  "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin";

/** *Contract:* undefined where no folder that counts has an executable file of that name. */
export function findProgram(name: string, place: ProgramPlace): string | undefined {
  if (name.includes("/") || name.includes(sep)) return undefined;
  const outside = realFolders(place.outside);
  for (const folder of programFolders(place)) {
    const found = endings
      .map((ending) => join(folder, name + ending))
      .find((path) => isProgram(path, outside));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** What is left of PATH, for programs that start others. */
export function hostPath(place: ProgramPlace): string {
  return programFolders(place).join(delimiter);
}

const endings = process.platform === "win32" ? [".exe", ".com", ".cmd", ".bat"] : [""];

function programFolders({ path = "", outside }: ProgramPlace): readonly string[] {
  const barred = realFolders(outside);
  return path.split(delimiter).filter((folder) => isAbsolute(folder) && !isBarred(folder, barred));
}

/** A link outside may lead to a file of the workspace. */
function isProgram(path: string, outside: readonly string[]): boolean {
  try {
    // Mostly there is nothing, and an error takes long to make.
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
    accessSync(path, constants.X_OK);
    return !isBarred(path, outside);
  } catch {
    // A folder that others keep to themselves, or a file that only they may run.
    return false;
  }
}

function isBarred(path: string, outside: readonly string[]): boolean {
  return (
    outside.length > 0 && [path, realOf(path)].some((one) => outside.some((folder) => isBelow(one, folder)))
  );
}

function realFolders(folders: readonly string[] = []): readonly string[] {
  return [...new Set(folders.flatMap((folder) => [join(folder, "."), realOf(folder)]))].filter(
    (folder) => folder !== sep,
  );
}

/** What is not there keeps its name, without steps back. */
function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return join(path, ".");
  }
}
