/** A real change to one file, cut into hunks of lines that every edit format can be written from. */

import type { FilePair } from "./edit-case.ts";
import { languageOf } from "./language.ts";
import { diffLines } from "./line-diff.ts";
import type { SeededRandom } from "./seeded-random.ts";
import { type FileStyle, readLines } from "./text-lines.ts";

/** One line of a hunk: kept, removed or added. */
export interface LineOp {
  readonly kind: " " | "-" | "+";
  readonly text: string;
}

/** `start` is the index in the old file of the first kept or removed line. */
export interface Hunk {
  readonly start: number;
  readonly ops: readonly LineOp[];
  readonly header?: string;
}

/** `cores` have no context at their ends: `widen` adds it. */
export interface Change {
  readonly path: string;
  readonly language: string;
  readonly source: string;
  readonly style: FileStyle;
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly cores: readonly Hunk[];
}

const joinedGap = 6;
const maxCoreOps = 40;

/** Changes to one file, each with one to `most` hunks; none if the versions have no common style. */
export function changesOf(pair: FilePair, random: SeededRandom, most: number): Change[] {
  const language = languageOf(pair.path);
  const [old, current] = [readLines(pair.before), readLines(pair.after)];
  if (language === undefined || old === undefined || current === undefined) return [];
  const sameStyle = JSON.stringify(old.style) === JSON.stringify(current.style);
  if (!sameStyle || old.lines.length < 8) return [];
  const cores = coresOf(old.lines, current.lines).filter((core) => core.ops.length <= maxCoreOps);
  const { path, source } = pair;
  const file = { path, language, source, style: old.style, before: old.lines };
  return grouped(cores, random, most)
    .filter((group) => keepsBalance(group, group.length === cores.length))
    .map((group) => ({ ...file, after: applied(old.lines, group), cores: group }));
}

export function oldLines(hunk: Hunk): string[] {
  return hunk.ops.filter(({ kind }) => kind !== "+").map(({ text }) => text);
}

export function newLines(hunk: Hunk): string[] {
  return hunk.ops.filter(({ kind }) => kind !== "-").map(({ text }) => text);
}

export function oldEnd(hunk: Hunk): number {
  return hunk.start + oldLines(hunk).length;
}

export function applied(before: readonly string[], hunks: readonly Hunk[]): string[] {
  const lines = [...before];
  for (const hunk of hunks.toSorted((a, b) => b.start - a.start)) {
    lines.splice(hunk.start, oldLines(hunk).length, ...newLines(hunk));
  }
  return lines;
}

/** The hunk with up to this many lines of context, clipped at `limits` (default: the file's ends). */
export function widen(change: Change, core: Hunk, context: Context): Hunk {
  const { above, below, limits = [0, change.before.length] } = context;
  const end = oldEnd(core);
  const from = Math.min(core.start, Math.max(limits[0], core.start - above));
  const to = Math.max(end, Math.min(limits[1], end + below));
  const kept = (lines: readonly string[]): LineOp[] => lines.map((text) => ({ kind: " ", text }));
  const ops = [
    ...kept(change.before.slice(from, core.start)),
    ...core.ops,
    ...kept(change.before.slice(end, to)),
  ];
  return { ...core, start: from, ops };
}

export interface Context {
  readonly above: number;
  readonly below: number;
  readonly limits?: readonly [number, number];
}

export function coresOf(before: readonly string[], after: readonly string[]): Hunk[] {
  const cores: Hunk[] = [];
  for (const change of diffLines(before, after) ?? []) {
    const removed = before.slice(change.oldStart, change.oldEnd);
    const added = after.slice(change.newStart, change.newEnd);
    const ops: LineOp[] = [
      ...removed.map((text): LineOp => ({ kind: "-", text })),
      ...added.map((text): LineOp => ({ kind: "+", text })),
    ];
    const last = cores.at(-1);
    if (last === undefined || change.oldStart - oldEnd(last) > joinedGap) {
      cores.push({ start: change.oldStart, ops });
      continue;
    }
    const between = before.slice(oldEnd(last), change.oldStart);
    const kept = between.map((text): LineOp => ({ kind: " ", text }));
    cores[cores.length - 1] = { start: last.start, ops: [...last.ops, ...kept, ...ops] };
  }
  return cores;
}

/** The whole change if it is small, else runs of neighbouring hunks. */
function grouped(cores: readonly Hunk[], random: SeededRandom, most: number): Hunk[][] {
  const groups: Hunk[][] = [];
  if (cores.length > 0 && cores.length <= most) groups.push([...cores]);
  for (let index = 0; index < cores.length; ) {
    const size = random.chance(0.6) ? 1 : 1 + random.below(most);
    const group = cores.slice(index, index + size);
    if (group.length < cores.length) groups.push(group);
    index += size;
  }
  return groups;
}

const balanced = ["(", ")", "[", "]", "{", "}", "/*", "*/"];
const paired = ['"""', "'''", "`", "```"];

/**
 * Part of a change may open a bracket that another part closes; alone it leaves a file that does not parse.
 */
function keepsBalance(hunks: readonly Hunk[], isWhole: boolean): boolean {
  return isWhole ? isBalanced(hunks) : hunks.every((hunk) => isBalanced([hunk]));
}

function isBalanced(hunks: readonly Hunk[]): boolean {
  const side = (kind: string): string =>
    hunks
      .flatMap(({ ops }) => ops.filter((op) => op.kind === kind))
      .map(({ text }) => text)
      .join("\n");
  const [removed, added] = [side("-"), side("+")];
  const count = (text: string, token: string): number => text.split(token).length - 1;
  for (let index = 0; index < balanced.length; index += 2) {
    const [open, close] = [balanced[index] as string, balanced[index + 1] as string];
    if (count(removed, open) - count(removed, close) !== count(added, open) - count(added, close))
      return false;
  }
  return paired.every((token) => count(removed, token) % 2 === count(added, token) % 2);
}
