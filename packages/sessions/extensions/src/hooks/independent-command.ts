/** Independent command: whether a project's files cannot change a user's hook, so it may allow calls. */
import { lstatSync } from "node:fs";
import { basename, isAbsolute, join, resolve } from "node:path";
import { homeFolder, leadsInto } from "@lathe/system";
import type { ExtensionPlace } from "../files/extension-place.ts";
import {
  commandsIn,
  hasSubstitution,
  isProgramOfSystem,
  partsOf,
  printers,
  readers,
  type Word,
  withoutKeywords,
} from "./shell-words.ts";

/** Their first argument is the program, and its imports are looked up next to it. */
const interpreters: ReadonlySet<string> = new Set(
  "sh bash dash zsh node python python3 ruby perl . source".split(" "),
);
/** They run files of the folder they are started in. */
const runners: ReadonlySet<string> = new Set(
  "npm npx pnpm pnpx yarn bun bunx deno tsx uv uvx pipx poetry make just task cargo go rake bundle php env xargs find git docker".split(
    " ",
  ),
);

/** *Contract:* check before each run, because a file may have been created meanwhile. */
export function isIndependent(command: string, place: ExtensionPlace): boolean {
  let isInCase = false;
  return commandsIn(command, place.cwd).every((written) => {
    const words = withoutKeywords(written);
    if (written.some(({ text }) => text === "esac")) isInCase = false;
    const isPattern = isInCase && words.length === 1 && /^\*|\*$/u.test(words[0]?.text ?? "");
    if (words[0]?.text === "case") isInCase = true;
    if (written.some(hasSubstitution)) return false;
    return words[0]?.text === "case" || isPattern || isIndependentCommand(words, place);
  });
}

function isIndependentCommand([first, ...others]: readonly Word[], place: ExtensionPlace): boolean {
  if (!first) return true;
  // An assignment `name=$(...)`: its value comes from the next command.
  if (others.length === 0 && /^[a-z]\w*=\$?$/u.test(first.text)) return true;
  const name = isProgramOfSystem(first.text) ? basename(first.text) : first.text;
  if (printers.has(name) || name === "[" || name === "test") return true;
  const [script, ...rest] = others;
  if (interpreters.has(name))
    return isOutside(script, place) && rest.every((word) => namesNoProjectFile(word, place));
  if (!readers.has(name) && !isJq(name, others)) {
    if (isProgramOfSystem(first.text) || runners.has(basename(name)) || !isOutside(first, place))
      return false;
  }
  return others.every((word) => namesNoProjectFile(word, place));
}

/** jq loads other programs only by name. */
function isJq(name: string, words: readonly Word[]): boolean {
  return (
    name === "jq" && !words.some(({ text }) => /^-[^-]*L|library-path|\b(?:import|include)\b/u.test(text))
  );
}

/** Whether a word is an absolute path that commands of this project cannot write. */
function isOutside(word: Word | undefined, place: ExtensionPlace): boolean {
  const path = word && pathOf(word, place);
  if (path === undefined || !isAbsolute(path)) return false;
  return foldersOf(place).every((folder) => !leadsInto(path, folder));
}

/** Whether a word names no file of the project; it may name the project's folder itself. */
function namesNoProjectFile(word: Word, place: ExtensionPlace): boolean {
  return partsOf(word).every((part) => {
    const path = pathOf(part, place);
    if (path === undefined) return false;
    if (path === place.cwd) return true;
    if (isAbsolute(path)) return isOutside(part, place);
    return (
      !fileLike.test(path) && lstatSync(resolve(place.cwd, path), { throwIfNoEntry: false }) === undefined
    );
  });
}

/** Text that looks like a path may become a file later. */
const fileLike = /^[\w@%+=:,.-]*\/[\w@%+=:,./-]*$|^[\w-]+\.\w+$/u;

/** Expands the user's home as a shell does; undefined for other expansions. */
function pathOf({ text, isOpen }: Word, { env }: ExtensionPlace): string | undefined {
  if (!isOpen) return text;
  const [, rest] = /^(?:~|\$HOME|\$\{HOME\})(\/[\w@%+=:,./-]+)$/u.exec(text) ?? [];
  return rest === undefined ? undefined : join(homeFolder(env), rest);
}

function foldersOf({ cwd, env }: ExtensionPlace): readonly string[] {
  return env.LATHE_COPY_OF === undefined ? [cwd] : [cwd, env.LATHE_COPY_OF];
}
