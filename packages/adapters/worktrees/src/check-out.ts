/** Checks a commit out into a new working tree. Files are as stored in the commit, since no filters run. */
import { lstatSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { type Failure, failure, isFailure } from "@lathe/protocol";
import { inFolder, plainBytes, replaceFile } from "@lathe/system/git";
import { namesIn } from "./changed-files.ts";
import type { GitBox } from "./git/git-box.ts";

/** Files that a filter, such as Git LFS, would have written otherwise. */
export interface Unfiltered {
  readonly filter: string;
  readonly files: number;
}

/** One sentence that says what to do. */
export function unfilteredText({ filter, files }: Unfiltered): string {
  const count = files === 1 ? "1 file is" : `${files} files are`;
  const todo = filter === "lfs" ? "run `git lfs pull` there" : "check them out again there with git";
  return `${count} as stored in the commit: Lathe runs no filters, and these have the filter "${filter}"; to get their content, ${todo}.`;
}

const checkOutMs = 600_000;
const maxIndex = 1024 * 1024 * 1024;

/** *Contract:* the index is as git itself would have written it; throws file system errors. */
export async function checkOut(
  box: GitBox,
  { path, gitFolder, commit }: { readonly path: string; readonly gitFolder: string; readonly commit: string },
): Promise<Failure | undefined> {
  const index = box.newIndex();
  const run = { workTree: path, index, timeoutMs: checkOutMs };
  const put = await box.git(["read-tree", "-m", "-u", commit], run);
  if (isFailure(put)) return put;
  return putIndex(index, gitFolder);
}

/** Makes an index that git wrote in the box the tree's own, with its time: by that git tells which files may have changed since. */
export function putIndex(index: string, gitFolder: string): Failure | undefined {
  const bytes = plainBytes(index, maxIndex);
  const { atime, mtime } = lstatSync(index);
  if (!bytes) return failure("no-access", `${index} is no index`, { who: "host" });
  const isPut = inFolder(gitFolder, [], (folder) => replaceFile(folder, "index", bytes));
  if (!isPut) return failure("no-access", `${gitFolder}/index.lock is there already`, { who: "user" });
  utimesSync(join(gitFolder, "index"), atime, mtime);
  return undefined;
}

/** The filters that the attributes of checked-out files name; the one with the most files first. */
export async function unfilteredIn(
  box: GitBox,
  {
    path,
    index,
    names,
  }: { readonly path: string; readonly index: string; readonly names: readonly string[] },
): Promise<readonly Unfiltered[] | Failure> {
  // Most repositories have no filters: then git is not asked.
  const attributes = names.filter((name) => /(?:^|\/)\.gitattributes$/.test(name));
  const places = attributes.map((name) => `${path}/${Buffer.from(name, "latin1").toString()}`);
  const isFiltering = places.some((file) => plainBytes(file, maxAttributes)?.includes("filter"));
  if (!isFiltering && !box.hasOwnFilters) return [];
  const input = names.map((name) => `${name}\0`).join("");
  const said = await box.git(["check-attr", "-z", "--stdin", "filter"], { workTree: path, index, input });
  if (isFailure(said)) return said;
  const found = new Map<string, number>();
  const fields = namesIn(said);
  for (let at = 2; at < fields.length; at += 3) {
    const filter = fields[at] ?? "";
    if (!none.has(filter)) found.set(filter, (found.get(filter) ?? 0) + 1);
  }
  const all = [...found].map(([filter, files]) => ({ filter, files }));
  return all.toSorted((one, other) => other.files - one.files);
}

const maxAttributes = 4 * 1024 * 1024;
const none = new Set(["unspecified", "unset", "set"]);
