/** Links that a script creates, and the real place of a path below them. */
import type { Effect } from "@lathe/protocol";
import { unescapeGlob } from "../globs/shell-glob.ts";
import { hasOption, optionValues, type ProgramCall, positional } from "../programs/program-call.ts";
import { tidy } from "../shell/tidy-path.ts";
import type { Word } from "../shell/word.ts";
import { placed } from "./working-folder.ts";

/** Targets by link name, both as globs relative to the workspace; absent if unknown. */
export type Links = Map<string, string | undefined>;

/** An unknown name: any path may be it. */
const anyName = "**";

export function noteLinks(call: ProgramCall, folder: string | undefined, links: Links): void {
  const { program, args } = call;
  if (!isLinking(call)) return;
  const isSoft = program === "ln" && hasOption(args, "-s", "--symbolic");
  const folders = optionValues(args, "-t", "--target-directory");
  const words = positional(args).filter((word) => !folders.includes(word));
  const into = folders[0] ?? (words.length > 1 ? words.at(-1) : undefined);
  const sources = folders.length > 0 || words.length < 2 ? words : words.slice(0, -1);
  for (const source of sources) {
    const base = source.text.replace(/\/+$/u, "").split("/").at(-1) ?? "";
    const names = into ? [into.text, `${into.text.replace(/\/+$/u, "")}/${base}`] : [base];
    const isTold = source.isLiteral && (into?.isLiteral ?? true);
    for (const name of names) note({ name, source, isSoft, isTold }, folder, links);
  }
}

function isLinking({ program, args }: ProgramCall): boolean {
  if (program === "cp") return hasOption(args, "-l", "-s", "--link", "--symbolic-link");
  return program === "ln" || program === "link";
}

interface Made {
  readonly name: string;
  readonly source: Word;
  /** The target of a soft link is relative to its own folder. */
  readonly isSoft: boolean;
  readonly isTold: boolean;
}

function note({ name, source, isSoft, isTold }: Made, folder: string | undefined, links: Links): void {
  const at = placed({ kind: "write", target: name }, folder);
  if (/^[$`]/u.test(name) || at.expansion === "unknown") {
    links.set(anyName, undefined);
    return;
  }
  const parent = at.target.includes("/") ? at.target.slice(0, at.target.lastIndexOf("/")) : "";
  const to = placed({ kind: "write", target: source.text }, isSoft ? parent : folder);
  const isHome = source.raw.startsWith("~");
  if (to.target !== at.target)
    links.set(at.target, isTold || isHome ? (isHome ? source.text : to.target) : undefined);
}

const inCode =
  /\b(?:sym)?link(?:Sync|_to)?\s*\(\s*[bru]?(['"`])([^'"`]+)\1\s*,\s*[bru]?(['"`])([^'"`]+)\3|\bsymlink(?:Sync|_to)?\s*\(/gu;

/** Links that code of another language makes. */
export function noteCodeLinks(code: string, folder: string | undefined, links: Links): void {
  for (const [, , from, , name] of code.matchAll(inCode)) {
    const word = (text: string): Word => ({ text, glob: text, isLiteral: true, raw: text });
    if (from === undefined || name === undefined) links.set(anyName, undefined);
    else note({ name, source: word(from), isSoft: true, isTold: true }, folder, links);
  }
}

const maxSteps = 16;

/** The effect on the place that its path leads to through the script's links. */
export function followed(effect: Effect, links: ReadonlyMap<string, string | undefined>): Effect {
  if (links.size === 0 || effect.kind === "read" || effect.expansion === "unknown") return effect;
  let { target } = effect;
  for (let i = 0; i < maxSteps; i++) {
    const name = [...links.keys()].find((one) => isReachedBy(target, one, effect));
    if (name === undefined)
      return i === 0 && links.has(anyName) ? unknownPlace(effect) : { ...effect, target };
    const place = links.get(name);
    if (place === undefined) return unknownPlace(effect);
    const path = place + target.slice(name.length);
    if (/^[~$]/u.test(path)) return { ...effect, target: unescapeGlob(path), expansion: "unknown" };
    target = tidy(path);
  }
  return unknownPlace(effect);
}

/** Deletes the link itself, not its target. */
function isReachedBy(path: string, name: string, { kind }: Effect): boolean {
  return path.startsWith(`${name}/`) || (kind === "write" && path === name);
}

function unknownPlace(effect: Effect): Effect {
  return { ...effect, target: `$(where ${effect.target} leads)`, expansion: "unknown" };
}
