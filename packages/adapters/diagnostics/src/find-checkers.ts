/** Find checkers: which checkers a project has set up, in which folders, and where their programs are. */

import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join, posix } from "node:path";
import { isBelow } from "@lathe/protocol";
import { readSmallText } from "@lathe/system";
import type { Checker } from "./checker.ts";
import { checkers } from "./checkers.ts";
import { type LookedFolder, lookedFolders } from "./may-have-checkers.ts";

export interface FoundChecker {
  readonly checker: Checker;
  /** From the workspace; empty for the workspace itself. */
  readonly folder: string;
  /** The text of the file that marks it. */
  readonly settings: string;
  /** From its folder, or a name on the PATH; absent if it is not installed. */
  readonly program?: string;
  /** A project above it has the same checker. */
  readonly isInner: boolean;
  /** Subfolders that have its marks, too. */
  readonly below: readonly string[];
}

type Growing = FoundChecker & { readonly below: string[] };

/**
 * `path` is the commands' PATH. Below a folder with a checker the same one is found again only for nested
 * projects.
 */
export function findCheckers(root: string, path: string): readonly FoundChecker[] {
  const found: Growing[] = [];
  for (const looked of lookedFolders(root))
    for (const checker of checkers) {
      const one = checkerIn(looked, checker, { root, path, found });
      if (one) found.push(one);
    }
  return found;
}

function checkerIn(
  { folder, files }: LookedFolder,
  checker: Checker,
  { root, path, found }: Where & { readonly found: readonly Growing[] },
): Growing | undefined {
  const above = found.filter((one) => one.checker === checker && isInFolder(folder, one.folder));
  if (above.length > 0 && !checker.parts) return undefined;
  const settings = markIn(checker, files, join(root, folder));
  if (settings === undefined) return undefined;
  for (const { below } of above) below.push(folder);
  if (!above.every((one) => checker.parts?.(one.settings))) return undefined;
  const program = programOf(checker, folder, { root, path });
  const own = { checker, folder, settings, isInner: above.length > 0, below: [] };
  return { ...own, ...(program !== undefined && { program }) };
}

export function isInFolder(path: string, folder: string): boolean {
  return folder === "" || isBelow(path, folder);
}

function markIn({ marks }: Checker, files: readonly string[], folder: string): string | undefined {
  for (const { file, says } of marks) {
    for (const name of files.filter((one) => file.test(one))) {
      const text = readSmallText(join(folder, name), maxBytes) ?? "";
      if (!says || says.test(text)) return text;
    }
  }
  return undefined;
}

const maxBytes = 256 * 1024;

interface Where {
  readonly root: string;
  readonly path: string;
}

function programOf({ home, program }: Checker, folder: string, where: Where): string | undefined {
  const inProject = {
    node: ["node_modules/.bin"],
    python: [".venv/bin", "venv/bin"],
    "node-or-python": ["node_modules/.bin", ".venv/bin", "venv/bin"],
    path: [],
  }[home];
  for (let at = folder; ; at = posix.dirname(at)) {
    const base = at === "." ? "" : at;
    const bin = inProject.find((one) => isProgram(join(where.root, base, one, program)));
    if (bin !== undefined) return posix.relative(`/${folder}`, `/${posix.join(base, bin, program)}`);
    if (base === "") break;
  }
  if (home === "node") return undefined;
  const folders = where.path.split(delimiter).filter((one) => isAbsolute(one));
  return folders.some((one) => isProgram(join(one, program))) ? program : undefined;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
