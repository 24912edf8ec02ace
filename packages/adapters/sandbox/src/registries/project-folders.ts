/** Project folders: where a file may be a project's and not the user's: what is worked in, and the repositories around it. */
import { existsSync, realpathSync } from "node:fs";
import { userInfo } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { isBelow, readSmallText } from "@lathe/system";

/** Real paths. `registered`: the user's home as the system knows it: a repository around it holds settings of their own. */
export function projectFolders(
  cwd: string,
  beside: readonly string[],
  registered: string | undefined = registeredHome(),
): readonly string[] {
  const home = registered === undefined ? undefined : realOr(registered);
  const around = [...beside.map(realOr), ...[cwd, ...beside].flatMap((path) => repositoriesOf(realOr(path)))];
  const theirs = around.filter((path) => home === undefined || !isBelow(home, path));
  return [...new Set([realOr(cwd), ...theirs])];
}

/** Whether a git working tree holds it, by its name or by where that leads. */
export function isInWorkingTree(path: string): boolean {
  return [path, realOr(path)].some((one) => above(one).some((folder) => existsSync(join(folder, ".git"))));
}

/** The working trees that hold it, and where their git data and main checkouts lie. */
function repositoriesOf(folder: string): readonly string[] {
  const tops = [folder, ...above(folder)].filter((path) => existsSync(join(path, ".git")));
  return tops.flatMap((top) => {
    const common = commonFolder(join(top, ".git"));
    if (common === undefined) return [top];
    return [top, common, ...(basename(common) === ".git" ? [dirname(common)] : [])];
  });
}

/** Of a linked working tree or a submodule. Whatever its file says, it can only take trust away. */
function commonFolder(git: string): string | undefined {
  const target = /^gitdir: (.+?)\s*$/u.exec(readText(git))?.[1];
  if (target === undefined) return undefined;
  const own = resolve(dirname(git), target);
  return realOr(resolve(own, readText(join(own, "commondir")).trim()));
}

function above(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...above(parent)];
}

function realOr(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

const maxBytes = 64 * 1024;

function readText(path: string): string {
  return readSmallText(path, maxBytes) ?? "";
}

function registeredHome(): string | undefined {
  try {
    return userInfo().homedir;
  } catch {
    return undefined;
  }
}
