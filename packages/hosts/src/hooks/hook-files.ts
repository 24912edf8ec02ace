/** Hook files: which files of the project a hook's command names, and whether those are all that it runs. */
import { basename, dirname, join, resolve } from "node:path";
import { isFailure } from "@lathe/protocol";
import { readRootFile } from "../places/root-file.ts";

export interface HookFile {
  readonly path: string;
  /** Undefined where there is none, or none that can be read. */
  readonly bytes: Uint8Array | undefined;
}

export interface HookFiles {
  readonly files: readonly HookFile[];
  /** Whether they are all that it runs: whoever leaves them as they are leaves the hook as it is. */
  readonly isAll: boolean;
}

interface Word {
  readonly text: string;
  /** Whether the shell makes something of it that is not known here. */
  readonly isOpen: boolean;
}

type Token = Word | { readonly operator: string };

const mostBytes = 256 * 1024;

/** Their first argument is the program. */
const interpreters: ReadonlySet<string> = new Set(
  "sh bash dash zsh node python python3 ruby perl . source".split(" "),
);
/** Read what they name and run nothing. */
const readers: ReadonlySet<string> = new Set("cat grep head tail".split(" "));
/** Their words name no files. */
const speakers: ReadonlySet<string> = new Set("echo printf true false exit".split(" "));

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
  for (const words of commandsOf(tokensOf(text, looking.cwd))) {
    if (!lookAt(words, looking)) looking.isAll = false;
    // What a shell is handed in one word, or works out within one.
    const nested = words.filter((word) => word.isOpen || /\s/u.test(word.text));
    if (looking.isAll || depth >= mostNested) continue;
    for (const word of nested) {
      if (word.text !== text) lookThrough(word.text, looking, depth + 1);
    }
  }
}

/** Whether nothing is run but what was looked at. */
function lookAt([first, ...others]: readonly Word[], looking: Looking): boolean {
  if (!first) return true;
  const name = isProgramOfSystem(first.text) ? basename(first.text) : first.text;
  const isClear = ![first, ...others].some(({ isOpen }) => isOpen);
  if (name === "cd") return enter(others, looking) && isClear;
  if (speakers.has(name) && isClear) return true;
  const areFiles = others.map((word) => partsOf(word).map((part) => lookFor(part, looking))[0]);
  if (readers.has(name)) return isClear;
  if (interpreters.has(name)) return isClear && areFiles[0] === true;
  const isFile = partsOf(first).map((part) => lookFor(part, looking))[0];
  return isClear && name.includes("/") && isFile === true;
}

function enter(words: readonly Word[], { folders }: Looking): boolean {
  const [target] = words;
  if (words.length !== 1 || !target || target.text.startsWith("-")) return false;
  for (const folder of [...folders].slice(0, mostFolders)) folders.add(resolve(folder, target.text));
  return folders.size <= mostFolders;
}

/** Whether it is a file of the project. */
function lookFor({ text }: Word, looking: Looking): boolean {
  const { cwd, folders } = looking;
  const paths = [...folders].map((folder) => resolve(folder, text));
  const inside = paths.filter((path) => path.startsWith(`${cwd}/`));
  if (inside.length < paths.length) looking.isAll = false;
  return inside.map((path) => look(path.slice(cwd.length + 1), looking)).includes(true);
}

function look(path: string, looking: Looking): boolean {
  const before = looking.files.get(path);
  if (before) return before.bytes !== undefined;
  // A project that nobody trusts yet is looked at as well.
  if (looking.files.size >= mostFiles) {
    looking.isAll = false;
    return false;
  }
  const found = readRootFile(looking.cwd, path, mostBytes);
  const isFile = found !== undefined && !isFailure(found);
  looking.files.set(path, { path, bytes: isFile ? found.bytes : undefined });
  // One that is not there yet is watched for; a folder, a link out, or a long one cannot be.
  if (found !== undefined && (!isFile || found.cut)) looking.isAll = false;
  return isFile;
}

function isProgramOfSystem(text: string): boolean {
  return ["/bin", "/usr/bin"].includes(dirname(text)) && text === join(dirname(text), basename(text));
}

/** `--config=FILE` names a file as well. */
function partsOf(word: Word): readonly Word[] {
  const at = word.text.indexOf("=");
  const value = at < 0 ? [] : [{ ...word, text: word.text.slice(at + 1) }];
  return [word, ...value].filter(({ text }) => text !== "");
}

/** Without what is only written to. */
function commandsOf(tokens: readonly Token[]): readonly (readonly Word[])[] {
  const commands: Word[][] = [[]];
  let isWritten = false;
  for (const token of tokens) {
    if ("text" in token) {
      if (!isWritten) commands.at(-1)?.push(token);
      isWritten = false;
    } else if (token.operator === ">") isWritten = true;
    else if (token.operator !== "<") commands.push([]);
  }
  return commands;
}

const pieces =
  /(?<blank>(?:[ \t]|\\\n)+)|(?<written>\d{0,2}(?:&>>?|>>?\||>>?&?\d*))|(?<read><)|(?<end>[;&|()\n]+)|'(?<single>[^']*)'|"(?<double>(?:[^"\\]|\\[\s\S])*)"|\\(?<escaped>[\s\S])|(?<bare>[\s\S])/gu;

function tokensOf(command: string, cwd: string): readonly Token[] {
  const tokens: Token[] = [];
  let word: Word | undefined;
  for (const { groups = {} } of withFolderMarked(command).matchAll(pieces)) {
    const part = quotedIn(groups, cwd) ?? bareIn(groups.bare, cwd);
    if (part)
      word = { text: `${word?.text ?? ""}${part.text}`, isOpen: part.isOpen || word?.isOpen === true };
    if (part && groups.bare !== "`") continue;
    if (word) tokens.push(word);
    word = undefined;
    const operator = operatorIn(groups);
    if (operator !== undefined) tokens.push({ operator });
  }
  return word ? [...tokens, word] : tokens;
}

type Groups = Readonly<Record<string, string | undefined>>;

function operatorIn({ written, read, blank }: Groups): string | undefined {
  if (blank !== undefined) return undefined;
  if (written !== undefined) return /&\d+$/u.test(written) ? undefined : ">";
  return read === undefined ? ";" : "<";
}

function quotedIn({ single, double, escaped }: Groups, cwd: string): Word | undefined {
  if (single !== undefined) return { text: single.replaceAll(mark, folderName), isOpen: false };
  if (double !== undefined) {
    const text = double.replace(/\\([$`"\\])/gu, "$1").replaceAll(mark, cwd);
    return { text, isOpen: /[$`]/u.test(double) };
  }
  if (escaped === undefined) return undefined;
  return { text: escaped === mark ? folderName : escaped, isOpen: false };
}

/** The folder takes the place of its name only here; a shell parts it at its spaces. */
function bareIn(bare: string | undefined, cwd: string): Word | undefined {
  if (bare === mark) return { text: cwd, isOpen: /[\s*?[\\]/u.test(cwd) };
  if (bare === "`") return { text: "", isOpen: true };
  return bare === undefined ? undefined : { text: bare, isOpen: /[$*?[\]{}~!#"']/u.test(bare) };
}

const folderName = "$CLAUDE_PROJECT_DIR";
/** Of the private use area: stands for the project's folder until the words are parted. */
const mark = "\uF8FF";

function withFolderMarked(command: string): string {
  return command.replaceAll(mark, "$").replace(/\$(?:CLAUDE_PROJECT_DIR\b|\{CLAUDE_PROJECT_DIR\})/gu, mark);
}
