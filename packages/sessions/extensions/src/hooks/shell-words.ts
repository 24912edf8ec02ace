/** Shell words: a command's simple commands and their words, as far as they are known without a shell. */
import { basename, dirname, join } from "node:path";

export interface Word {
  readonly text: string;
  /** Whether the shell makes something of it that is not known here. */
  readonly isOpen: boolean;
}

type Token = Word | { readonly operator: string };

/** Read what they name and run nothing. */
export const readers: ReadonlySet<string> = new Set("cat grep head tail".split(" "));
/** Their words name no files. */
export const speakers: ReadonlySet<string> = new Set("echo printf true false exit".split(" "));

/** Begin a command, or stand alone. */
const keywords: ReadonlySet<string> = new Set(
  "if then else elif fi ! { } while until do done esac exec".split(" "),
);

export function withoutKeywords(words: readonly Word[]): readonly Word[] {
  const at = words.findIndex(({ text }) => !keywords.has(text));
  return at < 0 ? [] : words.slice(at);
}

/** A command within a quoted word. */
export function runsWithin({ text, isOpen }: Word): boolean {
  return isOpen && /\$\(|`/u.test(text);
}

export function isProgramOfSystem(text: string): boolean {
  return ["/bin", "/usr/bin"].includes(dirname(text)) && text === join(dirname(text), basename(text));
}

/** `--config=FILE` names a file as well. */
export function partsOf(word: Word): readonly Word[] {
  const at = word.text.indexOf("=");
  const value = at < 0 ? [] : [{ ...word, text: word.text.slice(at + 1) }];
  return [word, ...value].filter(({ text }) => text !== "");
}

/** `$CLAUDE_PROJECT_DIR` is known: it is the folder. */
export function commandsIn(text: string, cwd: string): readonly (readonly Word[])[] {
  return commandsOf(tokensOf(text, cwd));
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
