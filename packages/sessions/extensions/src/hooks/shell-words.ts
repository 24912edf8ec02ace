/** Shell words: a script's simple commands and their words, as far as known without a shell. */
import { basename, dirname, join } from "node:path";

export interface Word {
  readonly text: string;
  /** Whether the shell expands it to something unknown. */
  readonly isOpen: boolean;
}

type Token = Word | { readonly operator: string };

/** Programs that read the files they name and run nothing. */
export const readers: ReadonlySet<string> = new Set("cat grep head tail".split(" "));
/** Programs whose arguments are not files. */
export const printers: ReadonlySet<string> = new Set("echo printf true false exit".split(" "));

/** Shell keywords that stand alone or before a command. */
const keywords: ReadonlySet<string> = new Set(
  "if then else elif fi ! { } while until do done esac exec".split(" "),
);

export function withoutKeywords(words: readonly Word[]): readonly Word[] {
  const at = words.findIndex(({ text }) => !keywords.has(text));
  return at < 0 ? [] : words.slice(at);
}

/** Whether a word contains a command substitution. */
export function hasSubstitution({ text, isOpen }: Word): boolean {
  return isOpen && /\$\(|`/u.test(text);
}

export function isProgramOfSystem(text: string): boolean {
  return ["/bin", "/usr/bin"].includes(dirname(text)) && text === join(dirname(text), basename(text));
}

/** The word, and the value in `--config=FILE`. */
export function partsOf(word: Word): readonly Word[] {
  const at = word.text.indexOf("=");
  const value = at < 0 ? [] : [{ ...word, text: word.text.slice(at + 1) }];
  return [word, ...value].filter(({ text }) => text !== "");
}

/** `$CLAUDE_PROJECT_DIR` is replaced by `cwd`. */
export function commandsIn(text: string, cwd: string): readonly (readonly Word[])[] {
  return commandsOf(tokensOf(text, cwd));
}

/** Leaves out the targets of output redirections. */
function commandsOf(tokens: readonly Token[]): readonly (readonly Word[])[] {
  const commands: Word[][] = [[]];
  let isTarget = false;
  for (const token of tokens) {
    if ("text" in token) {
      if (!isTarget) commands.at(-1)?.push(token);
      isTarget = false;
    } else if (token.operator === ">") isTarget = true;
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

/** Outside quotes, a shell splits the folder's path at spaces. */
function bareIn(bare: string | undefined, cwd: string): Word | undefined {
  if (bare === mark) return { text: cwd, isOpen: /[\s*?[\\]/u.test(cwd) };
  if (bare === "`") return { text: "", isOpen: true };
  return bare === undefined ? undefined : { text: bare, isOpen: /[$*?[\]{}~!#"']/u.test(bare) };
}

const folderName = "$CLAUDE_PROJECT_DIR";
/** A private-use character that stands for the project's folder until the words are split. */
const mark = "\uF8FF";

function withFolderMarked(command: string): string {
  return command.replaceAll(mark, "$").replace(/\$(?:CLAUDE_PROJECT_DIR\b|\{CLAUDE_PROJECT_DIR\})/gu, mark);
}
