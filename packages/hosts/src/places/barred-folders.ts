/** The folders whose programs never run outside the sandbox: the workspace, all of its repository, and what it is a copy of. */
import { lstatSync, realpathSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { linkedTrees } from "@lathe/system/git/linked-trees";
import { mainTree, type RepositoryPlace, repositoryPlace } from "@lathe/system/git/repository-place";
import { homeFolder } from "./home-folder.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** *Contract:* never throws. The home folder is not among them, also where it is a repository: its programs are the user's. */
export function barredFolders(workspace: string, env: Env): readonly string[] {
  const home = realOf(homeFolder(env));
  const own = [workspace, process.cwd(), ...(env.LATHE_COPY_OF === undefined ? [] : [env.LATHE_COPY_OF])];
  const known = new Set<string>();
  for (const folder of new Set(own.map(realOf))) addAround(folder, home, known);
  for (const place of [...known].flatMap((folder) => repositoryPlace(folder) ?? []))
    for (const tree of treesOf(place)) if (!isAbove(tree, home)) addAround(tree, home, known);
  return [...known];
}

/** A folder, the outermost repository around it whatever git says to it, and the packages that lie beside its way up. */
function addAround(folder: string, home: string, known: Set<string>): void {
  known.add(folder);
  for (let at = folder; ; at = dirname(at)) {
    if (!isAbove(at, home) && isThere(join(at, ".git"))) known.add(at);
    // `npm run` and `npx` name those of every folder on the way.
    if (at !== folder) known.add(join(at, "node_modules"));
    if (dirname(at) === at) return;
  }
}

function isAbove(folder: string, home: string): boolean {
  return folder === home || home.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** All working trees of a repository: one session's may be another's workspace. */
function treesOf({ common }: RepositoryPlace): readonly string[] {
  const first = mainTree(common);
  return [...linkedTrees(common).map(({ path }) => path), ...(first === undefined ? [] : [first])];
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // A folder that others keep to themselves.
    return false;
  }
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
