/** The project's own scripts: `npm run` and its like, and targets of make. */
import { matchesText } from "../globs/glob.ts";
import { escapeGlob, hasWildcard, unescapeGlob } from "../globs/shell-glob.ts";
import type { Inner, Looking } from "../programs/inner.ts";
import { optionValues, type ProgramCall, positional } from "../programs/program-call.ts";
import type { Word } from "../shell/word.ts";

const lifecycle: ReadonlySet<string> = new Set("test t tst start stop restart".split(" "));
const installs: ReadonlySet<string> = new Set("install i ci add publish pack".split(" "));
const renamed: Readonly<Record<string, string>> = {
  t: "test",
  tst: "test",
  i: "install",
  ci: "install",
  add: "install",
};

/** The scripts that a package manager will run, with what runs before and after them. */
export function packageScripts(call: ProgramCall, _: unknown, looking: Looking): readonly Inner[] {
  const { program, args } = call;
  const folder = folderOf(args, looking.folder);
  const words = positional(args).filter((word) => !valuesOf(args).includes(word));
  const [first, second] = words;
  if (!first || folder === undefined) return [];
  if (/^(?:pkg|set-script)$/u.test(first.text)) return [];
  const isRun = /^(?:run|run-script|rum|urn)$/u.test(first.text);
  const isNamed = program !== "npm" && !installs.has(first.text);
  const name = isRun
    ? second
    : lifecycle.has(first.text) || installs.has(first.text) || isNamed
      ? first
      : undefined;
  if (!name) return [];
  const after = args.slice(args.indexOf(name) + 1).filter(({ text }) => text !== "--");
  const more = after.map(({ raw }) => raw).join(" ");
  if (installs.has(name.text)) return scriptsNamed(installing, { folder, more: "" }, looking);
  const script = renamed[name.text] ?? name.text;
  const names = script === "restart" ? ["restart", "stop", "start"] : [script];
  return scriptsNamed(
    names.flatMap((one) => [`pre${one}`, one, `post${one}`]),
    { folder, more, main: script },
    looking,
  );
}

const installing: readonly string[] = ["preinstall", "install", "postinstall", "prepare"];

interface Running {
  readonly folder: string;
  /** What stands behind the name of the main script. */
  readonly more: string;
  readonly main?: string;
}

function scriptsNamed(
  names: readonly string[],
  { folder, more, main }: Running,
  looking: Looking,
): readonly Inner[] {
  const path = packageFile(folder);
  const made = looking.made.get(path);
  if (made && made.text === undefined) return [{ type: "undecided", text: `the scripts of ${path}` }];
  const scripts = scriptsIn(path, looking);
  return names.flatMap((name) => {
    const text = scripts?.get(name);
    return text === undefined ? [] : [projectScript(name === main ? withMore(text, more) : text, folder)];
  });
}

/** `npm-run-all a b`, `run-s build:*`: each name is a script, or a pattern of some. */
export function listedScripts({ args }: ProgramCall, _: unknown, looking: Looking): readonly Inner[] {
  const { folder } = looking;
  if (folder === undefined || hasWildcard(folder)) return [];
  const names = positional(args).map(({ text }) => text.split(" ", 1)[0] ?? "");
  const known = [...(scriptsIn(packageFile(folder), looking)?.keys() ?? [])];
  const meant = names.flatMap((name) =>
    name.includes("*") ? known.filter((one) => matchesText(name, one)) : [name],
  );
  return scriptsNamed(
    meant.flatMap((one) => [`pre${one}`, one, `post${one}`]),
    { folder: unescapeGlob(folder), more: "" },
    looking,
  );
}

/** `node --run NAME`. */
export function nodeScripts({ args }: ProgramCall, _: unknown, looking: Looking): readonly Inner[] {
  const { folder } = looking;
  if (folder === undefined || hasWildcard(folder)) return [];
  const names = optionValues(args, "--run").map(({ text }) => text);
  return scriptsNamed(names, { folder: unescapeGlob(folder), more: "" }, looking);
}

function withMore(text: string, more: string): string {
  return more === "" ? text : `${text} ${more}`;
}

function packageFile(folder: string): string {
  return folder === "" ? "package.json" : `${unescapeGlob(folder)}/package.json`;
}

function projectScript(text: string, folder: string): Inner {
  return {
    type: "script",
    text: { text, glob: escapeGlob(text), isLiteral: true, raw: text },
    isOwnShell: true,
    origin: "project",
    folder: escapeGlob(folder),
  };
}

const folderOptions = ["-C", "--prefix", "--cwd", "--dir", "-w", "--workspace", "--filter", "-F"];

function valuesOf(args: readonly Word[]): readonly Word[] {
  return args.filter((_, i) => folderOptions.includes(args[i - 1]?.text ?? ""));
}

function folderOf(args: readonly Word[], folder: string | undefined): string | undefined {
  if (folder === undefined || hasWildcard(folder)) return undefined;
  const base = unescapeGlob(folder);
  const [prefix] = optionValues(args, "--prefix", "-C", "--cwd", "--dir", "-w", "--workspace");
  if (!prefix) return base;
  if (!prefix.isLiteral) return undefined;
  return prefix.text.startsWith("/") || base === "" ? prefix.text : `${base}/${prefix.text}`;
}

function scriptsIn(path: string, looking: Looking): ReadonlyMap<string, string> | undefined {
  const text = textIn(path, looking);
  return text === undefined ? undefined : scriptsOf(text);
}

/** Read without a parser that throws: a name and a text are two JSON strings with a colon between them. */
function scriptsOf(text: string): ReadonlyMap<string, string> {
  const block = /"scripts"\s*:\s*\{((?:[^"{}]|"(?:[^"\\]|\\.)*")*)\}/u.exec(text)?.[1] ?? "";
  const pairs = block.matchAll(/"((?:[^"\\]|\\.)*)"\s*:\s*"((?:[^"\\]|\\.)*)"/gu);
  return new Map([...pairs].map(([, name = "", script = ""]) => [unquoted(name), unquoted(script)]));
}

function unquoted(text: string): string {
  return text.replace(/\\(?:u([0-9a-fA-F]{4})|([\s\S]))/gu, (_, code, char) => {
    if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
    return { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" }[String(char)] ?? char;
  });
}

/** The recipes of the targets that are named, and of all that those need. */
export function makeScripts(call: ProgramCall, _: unknown, looking: Looking): readonly Inner[] {
  const { args } = call;
  const folder = folderOf(args, looking.folder);
  if (folder === undefined || args.some(({ text }) => /^(?:-n|--dry-run|--just-print)$/u.test(text)))
    return [];
  const [file] = optionValues(args, "-f", "--file", "--makefile");
  const names = file ? [file.text] : ["Makefile", "makefile", "GNUmakefile"];
  const paths = names.map((name) => (folder === "" ? name : `${folder}/${name}`));
  if (paths.some((path) => looking.made.has(path) && looking.made.get(path)?.text === undefined))
    return [{ type: "undecided", text: "a makefile of this script" }];
  const text = paths.map((path) => textIn(path, looking)).find((one) => one !== undefined);
  if (text === undefined) return [];
  const rules = rulesOf(text);
  const targets = positional(args).filter(
    ({ text: word }, i) => !word.includes("=") && args[i - 1]?.text !== "-C",
  );
  const [fallback] = rules.keys();
  const wanted =
    targets.length > 0 ? targets.map((word) => word.text) : fallback === undefined ? [] : [fallback];
  return recipesFor(wanted, rules).map((recipe) => projectScript(recipe, folder));
}

function textIn(path: string, { known, wanted, made }: Looking): string | undefined {
  const own = made.get(path);
  if (own) return own.text;
  if (!known.files.has(path)) wanted.files.add(path);
  return known.files.get(path);
}

interface MakeRule {
  readonly needs: readonly string[];
  readonly lines: string[];
}

function rulesOf(text: string): ReadonlyMap<string, MakeRule> {
  const rules = new Map<string, MakeRule>();
  let current: readonly MakeRule[] = [];
  for (const line of text.replace(/\\\n/gu, " ").split("\n")) {
    const head = /^([^\s#:=][^#:=]*)::?(?![:=])([^#=;]*(?:;.*)?)/u.exec(line);
    if (line.startsWith("\t")) for (const rule of current) rule.lines.push(recipeLine(line));
    else if (head) current = headRules(rules, head);
    else if (line.trim() !== "") current = [];
  }
  return rules;
}

/** A recipe may begin in the line of its target, behind a semicolon. */
function headRules(
  rules: Map<string, MakeRule>,
  [, names, rest = ""]: readonly string[],
): readonly MakeRule[] {
  const at = rest.indexOf(";");
  const found = addRules(rules, wordsIn(names), wordsIn(at < 0 ? rest : rest.slice(0, at)));
  if (at >= 0) for (const rule of found) rule.lines.push(recipeLine(rest.slice(at + 1)));
  return found;
}

function wordsIn(text: string = ""): readonly string[] {
  return text.split(/\s+/u).filter(Boolean);
}

function addRules(
  rules: Map<string, MakeRule>,
  names: readonly string[],
  needs: readonly string[],
): readonly MakeRule[] {
  return names
    .filter((name) => name !== ".PHONY")
    .map((name) => {
      const known = rules.get(name);
      const rule = { needs: [...(known?.needs ?? []), ...needs], lines: known?.lines ?? [] };
      rules.set(name, rule);
      return rule;
    });
}

/** As the shell gets it: make's own variables are not known here. */
function recipeLine(line: string): string {
  return line
    .trim()
    .replace(/^[@+-]+/u, "")
    .replace(/\$[({]([\w.-]+)[)}]/gu, (_, name) => `$make_${String(name).replace(/\W/gu, "_")}`)
    .replaceAll("$$", "$");
}

function recipesFor(targets: readonly string[], rules: ReadonlyMap<string, MakeRule>): readonly string[] {
  const seen = new Set<string>();
  const open = [...targets];
  const recipes: string[] = [];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const rule = rules.get(name);
    if (seen.has(name) || !rule) continue;
    seen.add(name);
    if (rule.lines.length > 0) recipes.push(rule.lines.join("\n"));
    open.push(...rule.needs);
  }
  return recipes;
}
