/** The folders whose programs never run outside the sandbox: the workspace, all of its repository, and what it is a copy of. */
import { lstatSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { linkedTrees } from "./git/linked-trees.ts";
import { mainTree, type RepositoryPlace, repositoryPlace } from "./git/repository-place.ts";
import { realOr } from "./paths/real-path.ts";
import { type Env, homeFolder } from "./user-folders.ts";

/** *Contract:* never throws. The home folder is not among them, also where it is a repository: its programs are the user's. */
export function barredFolders(workspace: string, env: Env): readonly string[] {
  const home = realOr(homeFolder(env));
  const own = [workspace, process.cwd(), ...(env.LATHE_COPY_OF === undefined ? [] : [env.LATHE_COPY_OF])];
  const known = new Set<string>();
  const tops = new Set([...new Set(own.map(realOr))].flatMap((folder) => addAround(folder, home, known)));
  const trees = [...tops].flatMap((top) => treesOf(repositoryPlace(top)));
  for (const tree of trees) if (!known.has(tree) && !isAbove(tree, home)) addAround(tree, home, known);
  return [...known];
}

/**
 * A folder, the repositories around it whatever git says to them, and the packages that lie beside its way up. *Contract:*
 * returns the tops of those repositories.
 */
function addAround(folder: string, home: string, known: Set<string>): readonly string[] {
  const tops: string[] = [];
  known.add(folder);
  for (let at = folder; ; at = dirname(at)) {
    if (!isAbove(at, home) && isThere(join(at, ".git"))) tops.push(at);
    // `npm run` and `npx` name those of every folder on the way.
    if (at !== folder) known.add(join(at, "node_modules"));
    if (dirname(at) === at) break;
  }
  for (const top of tops) known.add(top);
  return tops;
}

function isAbove(folder: string, home: string): boolean {
  return folder === home || home.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** All working trees of a repository: one session's may be another's workspace. */
function treesOf(place: RepositoryPlace | undefined): readonly string[] {
  if (!place) return [];
  const { common } = place;
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
