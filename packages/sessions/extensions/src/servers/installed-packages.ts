/** Installed packages: the packages in `node_modules` that are loaded by name, with their dependencies. */
import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { isBelow, readSmallText } from "@lathe/system";
import { type CodeTree, digestOfEntry, foldersUp, maxFiles } from "./code-tree.ts";

export interface InstalledPackage {
  /** Its real path. */
  readonly folder: string;
  /** The digest of all its code. */
  readonly digest: string;
  readonly files: number;
}

export interface WantedPackage {
  /** The folder of the file that names it. */
  readonly from: string;
  readonly name: string;
}

/** Undefined if a word names no package; for `zod/v4` or `zod@4` it is `zod`. */
export function packageNamed(word: string): string | undefined {
  return /^(?:@[\w-][\w.-]*\/)?[\w-][\w.-]*/u.exec(word)?.[0];
}

/** All packages that the names lead to, and their dependencies; none outside the workspace. */
export function installedPackages(
  wanted: readonly WantedPackage[],
  { cwd, tree }: { readonly cwd: string; readonly tree: CodeTree },
): readonly InstalledPackage[] {
  const found = new Map<string, InstalledPackage>();
  const waiting = [...wanted];
  let files = 0;
  for (let next = waiting.pop(); next && files <= maxFiles; next = waiting.pop()) {
    const folder = folderOf(next, cwd, tree);
    if (folder === undefined || found.has(folder)) continue;
    const one = packageIn(folder, { tree, most: maxFiles - files });
    found.set(folder, one);
    files += one.files;
    for (const one of dependenciesOf(folder).map((name) => ({ from: folder, name }))) waiting.push(one);
  }
  return [...found.values()];
}

function folderOf({ from, name }: WantedPackage, cwd: string, tree: CodeTree): string | undefined {
  const named = foldersUp(from, cwd).map((at) => join(at, "node_modules", name));
  const folder = named.find((path) => tree.has(path));
  try {
    const real = folder === undefined ? cwd : realpathSync(folder);
    return isBelow(real, cwd) && real !== cwd ? real : undefined;
  } catch {
    return undefined;
  }
}

function packageIn(
  folder: string,
  { tree, most }: { readonly tree: CodeTree; readonly most: number },
): InstalledPackage {
  const files = tree.filesBelow(folder, { deep: true, most });
  const hash = createHash("sha256");
  for (const path of files.toSorted()) hash.update(JSON.stringify([path, digestOfEntry(path)]));
  return { folder, digest: hash.digest("hex"), files: files.length };
}

const maxManifest = 4_000_000;

function dependenciesOf(folder: string): readonly string[] {
  try {
    const manifest = Object(JSON.parse(readSmallText(join(folder, "package.json"), maxManifest) ?? "{}"));
    const lists = [manifest.dependencies, manifest.optionalDependencies, manifest.peerDependencies];
    return lists.flatMap((list) => Object.keys(Object(list)));
  } catch {
    return [];
  }
}
