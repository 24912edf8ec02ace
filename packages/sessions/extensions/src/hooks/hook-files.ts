/** Hook files: which files of the project a hook's command names, and whether those are all that it runs. */
import { createHash } from "node:crypto";
import { basename, resolve } from "node:path";
import { isFailure, maxJudgedBytes } from "@lathe/protocol";
import { readRootFile } from "../files/root-file.ts";
import { commandsIn, isProgramOfSystem, partsOf, readers, speakers, type Word } from "./shell-words.ts";

export interface HookFile {
  readonly path: string;
  /** Undefined where there is none, or none that can be read. */
  readonly bytes: Uint8Array | undefined;
  /** What it has to be when the hook starts: its digest, or null for none; absent where that cannot be compared. */
  readonly judged?: string | null;
}

export interface HookFiles {
  readonly files: readonly HookFile[];
  /** Whether they are all that it runs: whoever leaves them as they are leaves the hook as it is. */
  readonly isAll: boolean;
}

interface Looking {
  readonly cwd: string;
  /** All that were entered: one may have been left again, so a name is looked for in each. */
  readonly folders: Set<string>;
  readonly files: Map<string, HookFile>;
  isAll: boolean;
}

const mostFolders = 16;
const mostFiles = 200;
const mostNested = 3;

export function hookFiles(command: string, cwd: string): HookFiles {
  const looking: Looking = { cwd, folders: new Set([cwd]), files: new Map(), isAll: true };
  lookThrough(command, looking, 0);
  return { files: [...looking.files.values()], isAll: looking.isAll };
}

function lookThrough(text: string, looking: Looking, depth: number): void {
  for (const words of commandsIn(text, looking.cwd)) {
    if (!lookAt(words, looking)) looking.isAll = false;
    // What a shell is handed in one word, or works out within one.
    const nested = words.filter((word) => word.isOpen || /\s/u.test(word.text));
    if (looking.isAll || depth >= mostNested) continue;
    for (const word of nested) {
      if (word.text !== text) lookThrough(word.text, looking, depth + 1);
    }
  }
}

/** Whether nothing is run but what was looked at: a program of the project may load any file of it. */
function lookAt([first, ...others]: readonly Word[], looking: Looking): boolean {
  if (!first) return true;
  const name = isProgramOfSystem(first.text) ? basename(first.text) : first.text;
  const isClear = ![first, ...others].some(({ isOpen }) => isOpen);
  if (name === "cd") return enter(others, looking) && isClear;
  if (speakers.has(name) && isClear) return true;
  const isReader = readers.has(name);
  const named = isReader ? others : [first, ...others];
  for (const part of named.flatMap(partsOf)) lookFor(part, looking);
  return isReader && isClear;
}

function enter(words: readonly Word[], { folders }: Looking): boolean {
  const [target] = words;
  if (words.length !== 1 || !target || target.text.startsWith("-")) return false;
  for (const folder of [...folders].slice(0, mostFolders)) folders.add(resolve(folder, target.text));
  return folders.size <= mostFolders;
}

function lookFor({ text }: Word, looking: Looking): void {
  const { cwd, folders } = looking;
  const paths = [...folders].map((folder) => resolve(folder, text));
  const inside = paths.filter((path) => path.startsWith(`${cwd}/`));
  if (inside.length < paths.length) looking.isAll = false;
  for (const path of inside) look(path.slice(cwd.length + 1), looking);
}

function look(path: string, looking: Looking): void {
  if (looking.files.has(path)) return;
  // A project that nobody trusts yet is looked at as well.
  if (looking.files.size >= mostFiles) {
    looking.isAll = false;
    return;
  }
  const found = readRootFile(looking.cwd, path, maxJudgedBytes);
  const isFile = found !== undefined && !isFailure(found);
  looking.files.set(path, { path, bytes: isFile ? found.bytes : undefined, ...judgedOf(found) });
  // One that is not there yet is watched for; a folder, a link out, or a long one cannot be.
  if (found !== undefined && (!isFile || found.cut)) looking.isAll = false;
}

function judgedOf(found: ReturnType<typeof readRootFile>): Pick<HookFile, "judged"> {
  if (found === undefined) return { judged: null };
  if (isFailure(found) || found.cut) return {};
  return { judged: createHash("sha256").update(found.bytes).digest("hex") };
}
