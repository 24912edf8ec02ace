/** Sealed paths: what a person refused to have deleted stays as it is for commands, whatever program tries and however. */
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Command, SandboxSpec } from "@lathe/protocol";
import { anyCharacter, many, one, type TextMatcher, text } from "@lathe/protocol/pattern";
import { patternMatcher } from "@lathe/protocol/pattern/matcher";
import { isBelow, kindOf } from "@lathe/system/paths";
import type { GitGuards } from "../watch/git-guards.ts";

/** Files of a folder that are sealed one by one, so that commands may still add others; a larger one is sealed whole. */
const maxFiles = 64;
/** What globs are followed to, at most: beyond it the folder they were in is sealed. */
const maxFound = 256;

/**
 * The guards with the command's sealed paths. The folders above them are pinned, so that they are not moved away with
 * what is in them: a rename into or out of one is a copy from then on.
 */
export function withSealed<Guards extends GitGuards>(
  guards: Guards,
  command: Command,
  spec: SandboxSpec,
): Guards {
  const { sealed = [], grants = [] } = command;
  if (sealed.length === 0) return guards;
  const writable = [
    spec.workspace,
    ...grants.flatMap(({ kind, target }) => (kind === "write" ? [target] : [])),
  ];
  const found = sealed.flatMap((path) => {
    const within = writable.find((folder) => path !== folder && isBelow(path, folder));
    return within === undefined ? [] : namedBy(path, within).map((name) => ({ name, within }));
  });
  const isLink = (path: string): boolean => kindOf(path)?.isSymbolicLink() === true;
  const files = found.flatMap(({ name, within }) => (isLink(name) ? [] : filesOf(name, within)));
  const above = [
    ...files.flatMap(({ name, within }) => foldersAbove(name, within)),
    ...found.filter(({ name }) => isLink(name)).flatMap(({ name, within }) => foldersAbove(name, within)),
  ];
  const own = new Set([...guards.writable, ...guards.readOnly]);
  const pins = [...new Set(above)].filter((path) => !own.has(path)).sort((a, b) => a.length - b.length);
  return {
    ...guards,
    writable: [...pins, ...guards.writable],
    readOnly: [...guards.readOnly, ...new Set(files.map(({ name }) => name))],
    links: [...guards.links, ...found.flatMap(({ name }) => (isLink(name) ? [name] : []))],
  };
}

interface Sealed {
  readonly name: string;
  /** The writable folder it lies in. */
  readonly within: string;
}

/** The file itself, or each of a small folder; nothing where nothing is. */
function filesOf(path: string, within: string): readonly Sealed[] {
  const kind = kindOf(path);
  if (!kind) return [];
  if (!kind.isDirectory()) return [{ name: path, within }];
  const files = filesBelow(path, []);
  // An empty folder, or one whose files are too many to be named one by one, stays as a whole.
  if (files.length === 0 || files.length > maxFiles) return [{ name: path, within }];
  return files.map((name) => ({ name, within }));
}

function filesBelow(folder: string, found: string[]): readonly string[] {
  for (const entry of entriesOf(folder)) {
    if (found.length > maxFiles) return found;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) filesBelow(path, found);
    else if (entry.isFile()) found.push(path);
  }
  return found;
}

function foldersAbove(path: string, within: string): readonly string[] {
  const above: string[] = [];
  for (let at = dirname(path); at !== within && at !== "/"; at = dirname(at)) above.unshift(at);
  return above;
}

const wildcard = /[*?[]/u;

/** Itself, or what a glob names now. */
function namedBy(path: string, within: string): readonly string[] {
  if (!wildcard.test(path) || kindOf(path)) return [path];
  const segments = path.slice(within.length + 1).split("/");
  let found: readonly string[] = [within];
  for (const segment of segments) {
    found = found.flatMap((folder) => {
      if (!wildcard.test(segment)) return [join(folder, segment)];
      const matches = segmentMatcher(segment);
      return entriesOf(folder).flatMap(({ name }) => (matches(name) ? [join(folder, name)] : []));
    });
    if (found.length > maxFound) return [dirname(found[0] ?? within)].filter((folder) => folder !== within);
  }
  return found;
}

/** Rather too much than too little: a set of characters counts as any. */
function segmentMatcher(segment: string): TextMatcher {
  const parts = segment.split(/(\*+|\?|\[[^\]]*\])/u).map((part, at) => {
    if (at % 2 === 0) return text(part);
    return part.startsWith("*") ? many(anyCharacter) : one(anyCharacter);
  });
  return patternMatcher(parts);
}

function entriesOf(folder: string): ReturnType<typeof readEntries> {
  try {
    return readEntries(folder);
  } catch {
    return [];
  }
}

function readEntries(folder: string): readonly import("node:fs").Dirent[] {
  return readdirSync(folder, { withFileTypes: true });
}
