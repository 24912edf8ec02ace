/**
 * May have checkers: whether searching for a project's checkers is worthwhile; the only cost for projects
 * without any.
 */
import { type Dirent, readdirSync } from "node:fs";
import { join } from "node:path";

/** Names of files that mark some checker. */
const names =
  /^(?:tsconfig\.json|eslint\.config\..+|\.eslintrc.*|\.?biome\.jsonc?|\.?ruff\.toml|pyproject\.toml|pyrightconfig\.json|\.?mypy\.ini|setup\.cfg|go\.mod|Cargo\.toml)$/u;

/** Folders with other people's projects, or build results. */
const foreign =
  /^(?:\.|node_modules$|vendor$|target$|dist$|build$|out$|venv$|__pycache__$|fixtures$|testdata$)/u;
const deepest = 2;
const maxFolders = 64;

export interface LookedFolder {
  /** From the root; empty for the root itself. */
  readonly folder: string;
  readonly files: readonly string[];
}

/** The folder and two levels below it, outer ones first; unreadable folders have no files. */
export function* lookedFolders(root: string): Generator<LookedFolder> {
  const waiting: { readonly folder: string; readonly depth: number }[] = [{ folder: "", depth: 0 }];
  for (let looked = 0; looked < maxFolders; looked++) {
    const next = waiting.shift();
    if (!next) return;
    const entries = entriesOf(join(root, next.folder));
    yield { folder: next.folder, files: entries.filter((one) => !one.isDirectory()).map(({ name }) => name) };
    if (next.depth === deepest) continue;
    const below = entries
      .filter((one) => one.isDirectory() && !foreign.test(one.name))
      .map(({ name }) => name);
    for (const name of below.sort())
      waiting.push({ folder: next.folder ? `${next.folder}/${name}` : name, depth: next.depth + 1 });
  }
}

export function mayHaveCheckers(root: string): boolean {
  for (const { files } of lookedFolders(root)) if (files.some((name) => names.test(name))) return true;
  return false;
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
