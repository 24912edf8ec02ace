/** Nested ignore: what the .latheignore files below the root leave out; ripgrep is told of the root's own. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { globMatcher } from "./glob.ts";
import type { Place } from "./place.ts";

interface Rule {
  readonly isNegated: boolean;
  readonly isFolder: boolean;
  /** *Contract:* told from the folder of its file. */
  readonly matches: (path: string) => boolean;
}

/** The rules of one file, told from the folder it is in. */
interface Rules {
  readonly folder: string;
  readonly rules: readonly Rule[];
}

interface Folder {
  readonly isIgnored: boolean;
  /** Nearest first. */
  readonly files: readonly Rules[];
}

/** Whether a path below the place is left out. What is asked for by its name is not. One look at each folder. */
export function nestedIgnore({ root, path: start }: Place): (path: string) => boolean {
  if (start !== "" && !statSync(join(root, start), { throwIfNoEntry: false })?.isDirectory()) {
    return () => false;
  }
  const folders = new Map<string, Folder>([["", { isIgnored: false, files: [] }]]);
  const look = (path: string): Folder => {
    const known = folders.get(path);
    if (known) return known;
    const above = look(parentOf(path));
    const isAsked = path === start || start.startsWith(`${path}/`);
    const isIgnored = !isAsked && (above.isIgnored || isLeftOut(path, true, above.files));
    const own = isIgnored ? undefined : rulesIn(root, path);
    const folder = { isIgnored, files: own ? [own, ...above.files] : above.files };
    folders.set(path, folder);
    return folder;
  };
  return (path) => {
    const folder = look(parentOf(path));
    return folder.isIgnored || (folder.files.length > 0 && isLeftOut(path, false, folder.files));
  };
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** The last rule of the nearest file that has one for it. */
function isLeftOut(path: string, isFolder: boolean, files: readonly Rules[]): boolean {
  for (const { folder, rules } of files) {
    const below = path.slice(folder.length + 1);
    const rule = rules.findLast((one) => (isFolder || !one.isFolder) && one.matches(below));
    if (rule) return !rule.isNegated;
  }
  return false;
}

function rulesIn(root: string, folder: string): Rules | undefined {
  const path = join(root, folder, ".latheignore");
  if (!existsSync(path)) return undefined;
  try {
    const rules = readFileSync(path, "utf8").split(/\r?\n/).flatMap(ruleOf);
    return rules.length > 0 ? { folder, rules } : undefined;
  } catch {
    // It went away, or may not be read: then it says nothing.
    return undefined;
  }
}

/** As gitignore(5) has it. */
function ruleOf(line: string): readonly Rule[] {
  const text = line.replace(/(?<!\\)\s+$/, "");
  if (text === "" || text.startsWith("#")) return [];
  const isNegated = text.startsWith("!");
  const pattern = isNegated ? text.slice(1) : text;
  const isFolder = pattern.endsWith("/");
  const body = isFolder ? pattern.slice(0, -1) : pattern;
  if (body === "") return [];
  const anchored = body.includes("/") && !body.startsWith("/") ? `/${body}` : body;
  try {
    // What a glob turns round is no part of a rule.
    return [{ isNegated, isFolder, matches: globMatcher(anchored.replace(/^!/, "\\!")) }];
  } catch {
    // Not a pattern: ripgrep leaves out such a line, too.
    return [];
  }
}
