/**
 * Options with which an interpreter loads more code than the file it runs, and those that take a value: data.
 */
import type { Word } from "../shell/word.ts";
import { literal } from "../shell/word.ts";
import { without } from "./program-call.ts";

interface Loading {
  /** The next word, or the attached value, is a file or a module. */
  readonly files?: RegExp;
  /** The code that they load is not read. */
  readonly opaque?: RegExp;
  /** The next word is a value, and not loaded. */
  readonly valued?: RegExp;
  readonly source: string;
}

/** Language -> its options. */
const byLanguage: Readonly<Record<string, Loading>> = {
  node: {
    files: /^(?:-r|--require|--import|--loader|--experimental-loader)(?:=|$)/u,
    opaque:
      /^--(?:snapshot-blob|experimental-config-file|experimental-sea-config|env-file-if-exists)(?:=|$)/u,
    valued:
      /^(?:-C|--conditions|--title|--test-name-pattern|--test-reporter|--env-file|--watch-path|--input-type)$/u,
    source: "Node.js CLI, options",
  },
  tsx: { files: /^(?:-r|--require|--import)(?:=|$)/u, valued: /^--tsconfig$/u, source: "tsx, usage" },
  "ts-node": {
    files: /^(?:-r|--require)(?:=|$)/u,
    valued: /^(?:-P|--project|-O)$/u,
    source: "ts-node, options",
  },
  bun: {
    files: /^(?:-r|--preload|--require|--import)(?:=|$)/u,
    valued: /^(?:--cwd|--env-file|-c)$/u,
    source: "bun run",
  },
  python: { valued: /^-[A-Za-z]*[WXQ]$|^--check-hash-based-pycs$/u, source: "Python, command line" },
  perl: { files: /^-[Mm]/u, opaque: /^-d/u, valued: /^-I$/u, source: "perlrun" },
  ruby: { files: /^(?:-r|--require)(?:=|$)?/u, valued: /^-(?:I|C|E|x)$/u, source: "ruby(1)" },
  php: { opaque: /auto_(?:pre|ap)pend_file|extension=/u, valued: /^-[cdzt]$/u, source: "php(1), -d" },
  lua: { files: /^-l/u, source: "lua(1), -l" },
  luajit: { files: /^-l/u, source: "lua(1), -l" },
  julia: { files: /^(?:-L|--load)(?:=|$)/u, opaque: /^(?:-J|--sysimage)/u, source: "Julia, command line" },
  elixir: { files: /^-r$/u, source: "elixir(1)" },
  gdb: { opaque: /^--?(?:x|command|ix|init-command)(?:=|$)/u, source: "gdb(1), -x" },
  lldb: { opaque: /^(?:-s|-S|--source|--source-before-file)$/u, source: "lldb(1), --source" },
  vim: { opaque: /^(?:-S|-s|-u|-U|-i)/u, source: "Vim, starting" },
  nvim: { opaque: /^(?:-S|-s|-u|-U|-l|-i)/u, source: "Nvim, starting" },
  vi: { opaque: /^(?:-S|-s|-u)/u, source: "Vim, starting" },
  emacs: { opaque: /^--?(?:l|load|f|funcall|script|x)(?:=|$)/u, source: "GNU Emacs, initial options" },
};

export interface Loaded {
  readonly files: readonly Word[];
  readonly isOpaque: boolean;
  /** Words that are values of options. */
  readonly values: ReadonlySet<Word>;
}

export function loadedBy(language: string, args: readonly Word[]): Loaded {
  const loading = Object.hasOwn(byLanguage, language) ? byLanguage[language] : undefined;
  const values = new Set<Word>();
  const files: Word[] = [];
  if (!loading) return { files, isOpaque: false, values };
  const options = args.slice(0, endOfOptions(args, loading));
  for (const [i, word] of options.entries()) {
    const found = loading.files?.exec(word.text)?.[0];
    const next = args[i + 1];
    if (next && takesValue(word, loading)) values.add(next);
    const file =
      found === undefined || values.has(word) ? undefined : found === word.text ? next : without(word, found);
    if (file) files.push(file);
  }
  const given = [...options, ...(language === "php" ? values : [])];
  const isOpaque = given.some(({ text }) => loading.opaque?.test(text));
  return { files: files.map((file) => placeOf(file, language)), isOpaque, values };
}

function takesValue({ text }: Word, { files, valued }: Loading): boolean {
  return valued?.test(text) === true || files?.exec(text)?.[0] === text;
}

/** Words after the file are its arguments. */
function endOfOptions(args: readonly Word[], loading: Loading): number {
  let at = 0;
  for (; at < args.length; at++) {
    const word = args[at];
    if (!word || word.text === "--" || !/^[-+]/u.test(word.text)) break;
    if (takesValue(word, loading)) at++;
  }
  return at;
}

/** `-MFoo::Bar=x`, `-l mod`: a module, as the file that it may be. */
function placeOf(word: Word, language: string): Word {
  if (language === "perl") return literal(`${word.text.split("=", 1)[0]?.replaceAll("::", "/")}.pm`);
  if (language === "lua" || language === "luajit") return literal(`${word.text.replaceAll(".", "/")}.lua`);
  if (language === "ruby" && !word.text.endsWith(".rb")) return { ...word, text: `${word.text}.rb` };
  return word;
}
