/** The project's own scripts, run by `npm run` and similar commands. */
import { matchesText } from "../globs/glob.ts";
import { escapeGlob, hasWildcard, unescapeGlob } from "../globs/shell-glob.ts";
import type { Inner, InnerContext } from "../programs/inner.ts";
import { optionValues, type ProgramCall, positional } from "../programs/program-call.ts";
import type { Word } from "../shell/word.ts";
import { textIn } from "./text-in.ts";

const lifecycle: ReadonlySet<string> = new Set("test t tst start stop restart".split(" "));
const installs: ReadonlySet<string> = new Set("install i ci add publish pack".split(" "));
const renamed: Readonly<Record<string, string>> = {
  t: "test",
  tst: "test",
  i: "install",
  ci: "install",
  add: "install",
};

/** The scripts that a package manager will run, with their pre and post scripts. */
export function packageScripts(call: ProgramCall, _: unknown, looking: InnerContext): readonly Inner[] {
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
  /** The words after the name of the main script. */
  readonly more: string;
  readonly main?: string;
}

function scriptsNamed(
  names: readonly string[],
  { folder, more, main }: Running,
  looking: InnerContext,
): readonly Inner[] {
  const path = packageFile(folder);
  const made = looking.made.get(path);
  if (made && made.text === undefined) return [{ type: "undecided", text: `the scripts of ${path}` }];
  const scripts = scriptsIn(path, looking);
  if (!scripts && looking.known.unreadFiles?.has(path))
    return [{ type: "unfollowed", text: `the scripts of ${path}` }];
  return names.flatMap((name) => {
    const text = scripts?.get(name);
    return text === undefined ? [] : [projectScript(name === main ? withMore(text, more) : text, folder)];
  });
}

/** `npm-run-all a b`, `run-s build:*`: each name is a script, or a pattern of scripts. */
export function listedScripts({ args }: ProgramCall, _: unknown, looking: InnerContext): readonly Inner[] {
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
export function nodeScripts({ args }: ProgramCall, _: unknown, looking: InnerContext): readonly Inner[] {
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

function scriptsIn(path: string, looking: InnerContext): ReadonlyMap<string, string> | undefined {
  const text = textIn(path, looking);
  return text === undefined ? undefined : scriptsOf(text);
}

/** Read without a strict parser: a name and a text are two JSON strings with a colon between them. */
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
