/** Hook files: the files of the project that a hook's command names, and whether it can run any other. */
import { createHash } from "node:crypto";
import { basename, resolve } from "node:path";
import { isFailure, maxJudgedBytes } from "@lathe/protocol";
import { readRootFile } from "../files/read-file.ts";
import { commandsIn, isProgramOfSystem, partsOf, printers, readers, type Word } from "./shell-words.ts";

export interface HookFile {
  readonly path: string;
  /** Undefined if the file is missing or cannot be read. */
  readonly bytes: Uint8Array | undefined;
  /** The digest that it must have when the hook starts; null for no file, absent if it cannot be compared. */
  readonly judged?: string | null;
}

export interface HookFiles {
  readonly files: readonly HookFile[];
  /** Whether the hook runs no other files, so it stays the same as long as these do. */
  readonly isAll: boolean;
}

interface Scan {
  readonly cwd: string;
  /** All folders that the command enters. It may leave them again, so names are resolved in each. */
  readonly folders: Set<string>;
  readonly files: Map<string, HookFile>;
  isAll: boolean;
}

const maxFolders = 16;
const maxFiles = 200;
const maxNested = 3;

export function hookFiles(command: string, cwd: string): HookFiles {
  const scan: Scan = { cwd, folders: new Set([cwd]), files: new Map(), isAll: true };
  scanScript(command, scan, 0);
  return { files: [...scan.files.values()], isAll: scan.isAll };
}

function scanScript(text: string, scan: Scan, depth: number): void {
  for (const words of commandsIn(text, scan.cwd)) {
    if (!scanCommand(words, scan)) scan.isAll = false;
    // A shell may run the content of a word, or a command substitution in it.
    const nested = words.filter((word) => word.isOpen || /\s/u.test(word.text));
    if (scan.isAll || depth >= maxNested) continue;
    for (const word of nested) {
      if (word.text !== text) scanScript(word.text, scan, depth + 1);
    }
  }
}

/** Whether the command runs only files that it names: a program of the project may load any file. */
function scanCommand([first, ...others]: readonly Word[], scan: Scan): boolean {
  if (!first) return true;
  const name = isProgramOfSystem(first.text) ? basename(first.text) : first.text;
  const isClear = ![first, ...others].some(({ isOpen }) => isOpen);
  if (name === "cd") return enter(others, scan) && isClear;
  if (printers.has(name) && isClear) return true;
  const isReader = readers.has(name);
  const named = isReader ? others : [first, ...others];
  for (const part of named.flatMap(partsOf)) addWord(part, scan);
  return isReader && isClear;
}

function enter(words: readonly Word[], { folders }: Scan): boolean {
  const [target] = words;
  if (words.length !== 1 || !target || target.text.startsWith("-")) return false;
  for (const folder of [...folders].slice(0, maxFolders)) folders.add(resolve(folder, target.text));
  return folders.size <= maxFolders;
}

function addWord({ text }: Word, scan: Scan): void {
  const { cwd, folders } = scan;
  const paths = [...folders].map((folder) => resolve(folder, text));
  const inside = paths.filter((path) => path.startsWith(`${cwd}/`));
  if (inside.length < paths.length) scan.isAll = false;
  for (const path of inside) addFile(path.slice(cwd.length + 1), scan);
}

function addFile(path: string, scan: Scan): void {
  if (scan.files.has(path)) return;
  // Projects are scanned before a person trusts them, so the work is bounded.
  if (scan.files.size >= maxFiles) {
    scan.isAll = false;
    return;
  }
  const found = readRootFile(scan.cwd, path, maxJudgedBytes);
  const isFile = found !== undefined && !isFailure(found);
  scan.files.set(path, { path, bytes: isFile ? found.bytes : undefined, ...judgedOf(found) });
  // A missing file can be compared later; a folder, a link that leads out or a long file cannot.
  if (found !== undefined && (!isFile || found.cut)) scan.isAll = false;
}

function judgedOf(found: ReturnType<typeof readRootFile>): Pick<HookFile, "judged"> {
  if (found === undefined) return { judged: null };
  if (isFailure(found) || found.cut) return {};
  return { judged: createHash("sha256").update(found.bytes).digest("hex") };
}
