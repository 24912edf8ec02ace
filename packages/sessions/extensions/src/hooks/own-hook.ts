/** Own hook: whether one of the user's own runs nothing that a project's files can change, so that it may allow. */
import { lstatSync } from "node:fs";
import { basename, isAbsolute, join, resolve } from "node:path";
import { homeFolder, liesIn } from "@lathe/system";
import type { ExtensionPlace } from "../files/extension-place.ts";
import {
  commandsIn,
  isProgramOfSystem,
  partsOf,
  readers,
  runsWithin,
  speakers,
  type Word,
  withoutKeywords,
} from "./shell-words.ts";

/** Their first argument is the program; what that imports is looked for beside it. */
const interpreters: ReadonlySet<string> = new Set(
  "sh bash dash zsh node python python3 ruby perl . source".split(" "),
);
/** Run what lies where they are started, wherever they lie themselves. */
const runners: ReadonlySet<string> = new Set(
  "npm npx pnpm pnpx yarn bun bunx deno tsx uv uvx pipx poetry make just task cargo go rake bundle php env xargs find git docker".split(
    " ",
  ),
);
/** *Contract:* asked anew each time: what is no file now may be one later. */
export function runsOwnOnly(command: string, place: ExtensionPlace): boolean {
  let isInCase = false;
  return commandsIn(command, place.cwd).every((written) => {
    const words = withoutKeywords(written);
    if (written.some(({ text }) => text === "esac")) isInCase = false;
    const isPattern = isInCase && words.length === 1 && /^\*|\*$/u.test(words[0]?.text ?? "");
    if (words[0]?.text === "case") isInCase = true;
    if (written.some(runsWithin)) return false;
    return words[0]?.text === "case" || isPattern || isOwn(words, place);
  });
}

function isOwn([first, ...others]: readonly Word[], place: ExtensionPlace): boolean {
  if (!first) return true;
  // Its value comes from the next command.
  if (others.length === 0 && /^[a-z]\w*=\$?$/u.test(first.text)) return true;
  const name = isProgramOfSystem(first.text) ? basename(first.text) : first.text;
  if (speakers.has(name) || name === "[" || name === "test") return true;
  const [script, ...rest] = others;
  if (interpreters.has(name)) return isOutside(script, place) && rest.every((word) => isApart(word, place));
  if (!readers.has(name) && !isJq(name, others)) {
    if (isProgramOfSystem(first.text) || runners.has(basename(name)) || !isOutside(first, place))
      return false;
  }
  return others.every((word) => isApart(word, place));
}

/** Its programs load others only by name. */
function isJq(name: string, words: readonly Word[]): boolean {
  return (
    name === "jq" && !words.some(({ text }) => /^-[^-]*L|library-path|\b(?:import|include)\b/u.test(text))
  );
}

/** Named by its whole path, and nowhere that commands of this project can write. */
function isOutside(word: Word | undefined, place: ExtensionPlace): boolean {
  const path = word && pathOf(word, place);
  if (path === undefined || !isAbsolute(path)) return false;
  return foldersOf(place).every((folder) => !liesIn(path, folder));
}

/** Whether it names no file of the project; the project's folder may be named. */
function isApart(word: Word, place: ExtensionPlace): boolean {
  return partsOf(word).every((part) => {
    const path = pathOf(part, place);
    if (path === undefined) return false;
    if (path === place.cwd) return true;
    if (isAbsolute(path)) return isOutside(part, place);
    return (
      !likeFile.test(path) && lstatSync(resolve(place.cwd, path), { throwIfNoEntry: false }) === undefined
    );
  });
}

/** It may be made when nobody looks. */
const likeFile = /^[\w@%+=:,.-]*\/[\w@%+=:,./-]*$|^[\w-]+\.\w+$/u;

/** As the shell makes it of the user's home; undefined where that is not known. */
function pathOf({ text, isOpen }: Word, { env }: ExtensionPlace): string | undefined {
  if (!isOpen) return text;
  const [, rest] = /^(?:~|\$HOME|\$\{HOME\})(\/[\w@%+=:,./-]+)$/u.exec(text) ?? [];
  return rest === undefined ? undefined : join(homeFolder(env), rest);
}

function foldersOf({ cwd, env }: ExtensionPlace): readonly string[] {
  return env.LATHE_COPY_OF === undefined ? [cwd] : [cwd, env.LATHE_COPY_OF];
}
