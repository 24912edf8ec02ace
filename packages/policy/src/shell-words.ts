/** Splits a shell script into simple commands, word by word; what it cannot follow it marks, it never guesses. */
import { type Cursor, readHeredoc, readWord, skipBlank, skipComment, type Word } from "./shell-lexer.ts";

export interface Redirect {
  /** For example `>`, `>>`, `<`, `<<<`, `&>`. */
  readonly operator: string;
  readonly target: Word;
}

export interface SimpleCommand {
  /** Leading `NAME=value` words. */
  readonly assignments: readonly Word[];
  readonly words: readonly Word[];
  readonly redirects: readonly Redirect[];
  readonly heredocs: readonly string[];
  /** How many subshells it stands in. */
  readonly depth: number;
}

export interface ParsedScript {
  readonly commands: readonly SimpleCommand[];
  /** Scripts in `$(...)`, backticks and `<(...)`. */
  readonly nested: readonly string[];
  /** Whether quotes, brackets and here-documents all ended. */
  readonly isWhole: boolean;
}

const reserved: ReadonlySet<string> = new Set(
  "if then else elif fi while until do done esac ! { } time coproc".split(" "),
);
const operators = /&&|\|\||\|&|;;&|;;|;&|[;|\n()]|&(?!>)/y;
const redirection = /(\d*|\{\w+\})(<<<|<<-|<<|<>|<&|>&|>>|>\||&>>|&>|<(?!\()|>(?!\())/y;
const assignment = /^[A-Za-z_]\w*(\[[^\]]*\])?\+?=/u;

export function parseScript(script: string): ParsedScript {
  const cursor: Cursor = { text: script, at: 0, nested: [], pending: [], isWhole: true, depth: 0 };
  const commands: SimpleCommand[] = [];
  let draft = emptyDraft(0);
  while (cursor.at < script.length) {
    if (skipBlank(cursor) || skipComment(cursor)) continue;
    const operator = take(cursor, operators);
    if (operator === undefined) {
      if (!readRedirect(cursor, draft)) addWord(readWord(cursor), draft);
      continue;
    }
    if (isAnything(draft)) commands.push(draft);
    draft = emptyDraft(depthAfter(operator, draft.depth));
    if (operator === "\n") readPending(cursor);
  }
  readPending(cursor);
  if (isAnything(draft)) commands.push(draft);
  return { commands, nested: cursor.nested, isWhole: cursor.isWhole };
}

function depthAfter(operator: string, depth: number): number {
  if (operator === "(") return depth + 1;
  return operator === ")" ? Math.max(0, depth - 1) : depth;
}

function isAnything({ words, assignments, redirects }: CommandDraft): boolean {
  return words.length + assignments.length + redirects.length > 0;
}

interface CommandDraft {
  assignments: Word[];
  words: Word[];
  redirects: Redirect[];
  heredocs: string[];
  depth: number;
}

function emptyDraft(depth: number): CommandDraft {
  return { assignments: [], words: [], redirects: [], heredocs: [], depth };
}

function addWord(word: Word, draft: CommandDraft): void {
  const isFirst = draft.words.length === 0;
  if (isFirst && word.raw === word.text && reserved.has(word.text)) return;
  if (isFirst && assignment.test(word.raw)) draft.assignments.push(word);
  else draft.words.push(word);
}

function readRedirect(cursor: Cursor, draft: CommandDraft): boolean {
  const found = take(cursor, redirection);
  if (found === undefined) return false;
  const operator = found.replace(/^(\d+|\{\w+\})/u, "");
  skipBlank(cursor);
  const target = readWord(cursor);
  if (operator === "<<" || operator === "<<-") {
    const { heredocs } = draft;
    cursor.pending.push({
      end: target.text,
      isIndented: operator === "<<-",
      isRaw: target.raw !== target.text,
      heredocs,
    });
  } else draft.redirects.push({ operator, target });
  return true;
}

function readPending(cursor: Cursor): void {
  for (const heredoc of cursor.pending.splice(0)) heredoc.heredocs.push(readHeredoc(cursor, heredoc));
}

function take(cursor: Cursor, pattern: RegExp): string | undefined {
  pattern.lastIndex = cursor.at;
  const found = pattern.exec(cursor.text)?.[0];
  if (found !== undefined) cursor.at += found.length;
  return found;
}
