/** Adds a second block of the same lines to the file: makes a target ambiguous on purpose. */
import { applied, type Change, type Hunk, oldEnd } from "./change.ts";
import type { SeededRandom } from "./seeded-random.ts";
import { openingLine } from "./shape-corruptions.ts";
import { indentOf, isBlank } from "./text-lines.ts";

/** The body of a block: its opening line, and the lines from which a hunk may take context. */
export interface Block {
  readonly opening: number;
  /** After the block's last line. */
  readonly end: number;
  /** After the last line that is deeper than the opening one. */
  readonly bodyEnd: number;
}

export interface Twin {
  /** One hunk, in the true block. */
  readonly change: Change;
  readonly block: Block;
  /** Opening line of the surrounding block, if there is one. */
  readonly outer: number | undefined;
}

const longest = 80;
const named =
  /\b(?:def|class|func|fn|function|interface|struct|impl|trait|enum|type|const|let|var|mod)\s+(?:\([^)]*\)\s*)?([A-Za-z_]\w*)|([A-Za-z_]\w*)\s*\(/;

/**
 * Copies the block around one hunk above or below, with a renamed opening; none if there is no such block.
 */
export function twinOf(change: Change, random: SeededRandom, level: 1 | 2 = 1): Twin | undefined {
  const core = random.pick(change.cores);
  const inner = blockAround(change, core);
  if (inner === undefined) return undefined;
  const outer = blockAround(change, {
    start: inner.opening,
    ops: [{ kind: " ", text: change.before[inner.opening] ?? "" }],
  });
  const copied = level === 1 ? inner : outer;
  if (copied === undefined) return undefined;
  const renamed = renamedOpening(change.before, copied.opening);
  if (renamed === undefined) return undefined;
  const copy = [renamed, ...change.before.slice(copied.opening + 1, copied.end), ""];
  const above = random.chance(0.5);
  const at = above ? copied.opening : copied.end;
  const shift = above ? copy.length : 0;
  const before = change.before.toSpliced(at, 0, ...(above ? copy : ["", ...copy.slice(0, -1)]));
  const cores = [{ ...core, start: core.start + shift }];
  const block = {
    opening: inner.opening + shift,
    end: inner.end + shift,
    bodyEnd: inner.bodyEnd + shift,
  };
  const twinned = { ...change, before, cores, after: applied(before, cores) };
  return { change: twinned, block, outer: outer && outer.opening + shift };
}

function blockAround(change: Change, hunk: Hunk): Block | undefined {
  const opening = openingLine(change, hunk);
  if (opening === undefined) return undefined;
  const { before } = change;
  const depth = indentOf(before[opening] ?? "").length;
  let bodyEnd = opening + 1;
  for (let index = opening + 1; index < before.length; index++) {
    const line = before[index] ?? "";
    if (isBlank(line)) continue;
    if (indentOf(line).length <= depth) break;
    bodyEnd = index + 1;
  }
  const closes = /^\s*([}\])]|end\b)/.test(before[bodyEnd] ?? "");
  const end = bodyEnd + (closes ? 1 : 0);
  const inside = hunk.start > opening && oldEnd(hunk) <= bodyEnd;
  return inside && end - opening <= longest ? { opening, end, bodyEnd } : undefined;
}

function renamedOpening(lines: readonly string[], opening: number): string | undefined {
  const line = lines[opening] ?? "";
  const found = named.exec(line);
  const name = found?.[1] ?? found?.[2];
  if (found === null || name === undefined) return undefined;
  const at = found.index + found[0].lastIndexOf(name);
  return `${line.slice(0, at)}${name}Twin${line.slice(at + name.length)}`;
}
