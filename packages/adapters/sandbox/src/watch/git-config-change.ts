/** Decides which changes a command made to git's settings may stay. */

import { type ConfigText, parseGitConfig, type Setting } from "@lathe/system/git";
import { type ConfigPlace, isHarmless } from "./git-config-keys.ts";

export interface KeptConfig {
  /** Undefined: there is no file. */
  readonly text: string | undefined;
  /** Names of the settings that were removed or restored. */
  readonly taken: readonly string[];
}

/** *Contract:* undefined if the whole change may stay; else harmless changes stay where possible. */
export function keptConfig(
  before: string | undefined,
  now: string,
  place: ConfigPlace,
): KeptConfig | undefined {
  if (before === now) return undefined;
  const [old, found] = [parseGitConfig(before ?? ""), parseGitConfig(now)];
  if (!old || !found) return { text: before, taken: ["it cannot be read"] };
  const known = old.settings.filter((setting) => !isHarmless(setting, place));
  const grave = found.settings.filter((setting) => !isHarmless(setting, place));
  const added = notIn(grave, known);
  if (grave.length - added.length < known.length) {
    const lost = notIn(known, grave);
    return { text: before, taken: [...new Set([...lost, ...added].map(nameOf))] };
  }
  if (added.length === 0) return undefined;
  const text = without(now, found, added);
  const again = parseGitConfig(text)?.settings.filter((setting) => !isHarmless(setting, place));
  const isRight = again?.length === known.length && notIn(again, known).length === 0;
  return { text: isRight ? text : before, taken: [...new Set(added.map(nameOf))] };
}

/** Settings of `some` that are not in `others`, where order counts. */
function notIn(some: readonly Setting[], others: readonly Setting[]): readonly Setting[] {
  let at = 0;
  return some.filter((one) => {
    const next = others[at];
    const isSame = next && one.name === next.name && one.part === next.part && one.value === next.value;
    if (isSame) at++;
    return !isSame;
  });
}

/** A section that loses its last setting is removed, too. */
function without(text: string, { settings, heads }: ConfigText, cut: readonly Setting[]): string {
  const emptied = heads.filter((_, head) => {
    const own = settings.filter((setting) => setting.head === head);
    return own.length > 0 && own.every((setting) => cut.includes(setting));
  });
  const lineAfter = (to: number): number => (text[to] === "\n" ? to + 1 : to);
  const ranges = [...cut, ...emptied.map(({ from, to }) => ({ from, to: lineAfter(to) }))];
  let kept = "";
  let at = 0;
  for (const { from, to } of ranges.toSorted((a, b) => a.from - b.from)) {
    kept += text.slice(at, Math.max(at, from));
    at = Math.max(at, to);
  }
  return kept + text.slice(at);
}

function nameOf({ name, part }: Setting): string {
  const [section, key] = name.split(".");
  return part === undefined ? name : `${section}.${part}.${key}`;
}
