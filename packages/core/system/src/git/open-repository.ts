/** Opens a repository for reading: holds its folders, reads its settings, and runs nothing of it. */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
  type Stats,
} from "node:fs";
import { dirname, join } from "node:path";
import { type HeldFolder, holdFolder } from "../held-folder.ts";
import type { Env } from "../user-folders.ts";
import { readHeldFile } from "./held-file.ts";
import { IgnoreScope } from "./ignore-scope.ts";
import { type GitIndex, readIndex } from "./read-index.ts";
import { type RepositoryPlace, repositoryPlace } from "./repository-place.ts";
import {
  type RepositorySettings,
  repositorySettings,
  UnknownRepositoryError,
} from "./repository-settings.ts";

export interface OpenRepository {
  readonly place: RepositoryPlace;
  readonly settings: RepositorySettings;
  readonly top: HeldFolder;
  readonly common: HeldFolder;
  readonly index: GitIndex;
}

/**
 * *Contract:* undefined if the folder is in no repository; throws `UnknownRepositoryError` if git may see
 * another one, and all errors of the search.
 */
export function findRepository(folder: string): RepositoryPlace | undefined {
  const place = repositoryPlace(folder);
  for (let at = realpathSync(folder); at !== place?.top; at = dirname(at)) {
    if (isRefused(at)) throw new UnknownRepositoryError(`${at} may be a repository of another kind`);
    if (dirname(at) === at) break;
  }
  return place;
}

/** Git skips a folder `.git` that is no repository, but not a file or a link; a bare repository has none. */
function isRefused(folder: string): boolean {
  const kind = kindOf(folder, ".git");
  if (kind && !(kind.isDirectory() && !kindOf(folder, ".git/HEAD"))) return true;
  return ["HEAD", "objects", "refs"].every((name) => kindOf(folder, name));
}

function kindOf(folder: string, name: string): Stats | undefined {
  return lstatSync(join(folder, name), { throwIfNoEntry: false });
}

/** Calls `use` with the open repository, and closes it. *Contract:* throws all read errors. */
export async function withRepository<T>(
  place: RepositoryPlace,
  env: Env,
  use: (repository: OpenRepository) => T | Promise<T>,
): Promise<T> {
  const settings = repositorySettings(place, env);
  const held: HeldFolder[] = [];
  try {
    for (const path of [place.top, place.common, place.gitFolder]) held.push(holdFolder(path));
    const [top, common, own] = held as [HeldFolder, HeldFolder, HeldFolder];
    const index = readIndex(own, settings.idBytes);
    return await use({ place, settings, top, common, index });
  } finally {
    for (const folder of held) folder.close();
  }
}

const maxRules = 512 * 1024;

/** The rules of the repository and of the user, one character per byte. */
export function baseScope({ common, settings }: OpenRepository): IgnoreScope {
  const exclude = readHeldFile(common, "info/exclude", maxRules)?.bytes.toString("latin1") ?? "";
  const own = settings.excludesFile === undefined ? "" : userRules(settings.excludesFile);
  return IgnoreScope.base([exclude, own], settings.ignoresCase);
}

/** The user's own file, which may be a link. */
function userRules(path: string): string {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch {
    // There is no such file.
    return "";
  }
  try {
    if (!fstatSync(file).isFile()) return "";
    const bytes = Buffer.allocUnsafe(maxRules);
    let length = 0;
    for (let count = -1; count !== 0 && length < bytes.length; length += count)
      count = readSync(file, bytes, length, bytes.length - length, length);
    return bytes.toString("latin1", 0, length);
  } finally {
    closeSync(file);
  }
}
