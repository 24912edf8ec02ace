/** Test bench: parses scripts with a real parser, until no lookup is left. */
import { posix } from "node:path";
import type { Decision, Effect, Facts, Rule } from "@lathe/protocol";
import { openBashParser } from "@lathe/testkit";
import { type CommandEffects, commandEffects as effectsWith } from "./command-effects.ts";
import type { FoundCall } from "./programs/found-call.ts";
import { defaultRules } from "./rules/default-rules.ts";
import { evaluate } from "./rules/evaluate.ts";
import { factsNeeded } from "./rules/facts-needed.ts";
import { isWanting, type KnownTexts, type WantedTexts } from "./shell/known.ts";
import { readScript } from "./shell/read-script.ts";
import type { Script } from "./shell/script.ts";
import { followScript } from "./walk/walk-script.ts";

const parse = await openBashParser();
export const workspace = "/home/me/project";

export interface Place {
  readonly folder?: string;
  /** Texts of the project's files. */
  readonly files?: Readonly<Record<string, string>>;
  /** Project files that are not text. */
  readonly unread?: readonly string[];
  readonly gitAliases?: Readonly<Record<string, string>>;
}

export function readCommand(script: string, { folder = "", ...place }: Place = {}): CommandEffects {
  return lookedUp((known) => effectsWith(script, folder, known), place);
}

/** The calls of a script, with their words. */
export function followed(script: string): readonly FoundCall[] {
  return lookedUp((known) => followScript(script, "", known), {}).found;
}

function lookedUp<T extends { readonly wanted: WantedTexts }>(
  look: (known: KnownTexts) => T,
  place: Place,
): T {
  const { files = {}, gitAliases = {}, unread = [] } = place;
  const unreadFiles = new Set<string>();
  const scripts = new Map<string, Script>();
  const texts = new Map<string, string | undefined>();
  for (let round = 0; ; round++) {
    const found = look({ scripts, files: texts, unreadFiles, ...(round > 0 && { gitAliases }) });
    if (!isWanting(found.wanted) || round === 24) return found;
    for (const text of found.wanted.scripts) {
      const tree = parse(text);
      scripts.set(text, readScript(tree));
      tree.close();
    }
    for (const path of found.wanted.files) {
      const name = posix.normalize(path);
      texts.set(path, Object.hasOwn(files, name) ? files[name] : undefined);
      if (unread.includes(name)) unreadFiles.add(path);
    }
  }
}

export function commandEffects(script: string, folder: string = ""): readonly Effect[] {
  return readCommand(script, { folder }).effects;
}

/** Facts for auto mode in a sandbox, in a project whose files the next checkpoint holds. */
export function factsFor(effects: readonly Effect[], more: Partial<Facts> = {}): Facts {
  const entries = factsNeeded(effects).paths.map((path) => {
    const real = posix.resolve(workspace, path);
    const inside = real === workspace || real.startsWith(`${workspace}/`);
    return [path, { real: inside ? posix.relative(workspace, real) : real, inside }] as const;
  });
  const paths = Object.fromEntries(entries);
  return { mode: "auto", containment: "full", uncontainedAllowed: false, paths, uncovered: [], ...more };
}

export function judge(
  script: string,
  {
    place,
    facts,
    rules = defaultRules,
  }: { readonly place?: Place; readonly facts?: Partial<Facts>; readonly rules?: readonly Rule[] } = {},
): Decision & { readonly effects: readonly Effect[] } {
  const { effects } = readCommand(script, place);
  return { ...evaluate({ effects }, factsFor(effects, facts), rules), effects };
}
