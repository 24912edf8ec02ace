/** May have checkers: whether it is worth looking for a project's checkers at all; all that a start without any pays for. */
import { type Dirent, readdirSync } from "node:fs";
import { join } from "node:path";

/** Names of files that some checker goes by. */
const names =
  /^(?:tsconfig\.json|eslint\.config\..+|\.eslintrc.*|\.?biome\.jsonc?|\.?ruff\.toml|pyproject\.toml|pyrightconfig\.json|\.?mypy\.ini|setup\.cfg|go\.mod|Cargo\.toml)$/u;

/** Folders that hold other people's projects, or results. */
const foreign =
  /^(?:\.|node_modules$|vendor$|target$|dist$|build$|out$|venv$|__pycache__$|fixtures$|testdata$)/u;
const deepest = 2;
const maxFolders = 64;

export interface LookedFolder {
  /** From the root, empty for itself. */
  readonly folder: string;
  readonly files: readonly string[];
}

/** The folder, and those of the two levels below it, the outer ones first; folders that cannot be read have no files. */
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
