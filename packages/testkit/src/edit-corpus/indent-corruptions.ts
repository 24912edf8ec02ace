/** Indentation mistakes of models: shifted, dropped, or in the other character. */
import type { Hunk, LineOp } from "./change.ts";
import { newLines, oldLines } from "./change.ts";
import { type Corruption, type Draft, mapOps, stringFormats } from "./draft.ts";
import { isIndented } from "./language.ts";
import { indentOf, isBlank } from "./text-lines.ts";

function reindent(draft: Draft, map: (indent: string) => string): Hunk[] {
  return mapOps(draft.hunks, ({ text }) =>
    isBlank(text) ? text : map(indentOf(text)) + text.slice(indentOf(text).length),
  );
}

function indents(hunk: Hunk, kinds = " -+"): string[] {
  return hunk.ops
    .filter(({ kind, text }) => kinds.includes(kind) && !isBlank(text))
    .map(({ text }) => indentOf(text));
}

/** Enough text that a string cannot be inside one line of the file. */
function hasTwoOldLines({ hunks, format }: Draft): boolean {
  const filled = (hunk: Hunk): number => oldLines(hunk).filter((line) => !isBlank(line)).length;
  return format !== "search_replace" || hunks.every((hunk) => filled(hunk) >= 2);
}

/** The file's indentation unit; undefined if tabs and spaces are both common. */
function unitOf(lines: readonly string[]): string | undefined {
  const used = lines
    .filter((line) => !isBlank(line))
    .map(indentOf)
    .filter((indent) => indent !== "");
  if (used.length < 3) return undefined;
  if (used.every((indent) => indent.startsWith("\t"))) return "\t";
  if (used.some((indent) => indent.includes("\t"))) return undefined;
  for (const unit of ["    ", "  "]) {
    const fitting = used.filter((indent) => indent.length % unit.length === 0);
    if (fitting.length >= used.length * 0.9) return unit;
  }
  return undefined;
}

const deeper: Corruption = {
  name: "indent-deeper",
  fold: "lax",
  allowsReindent: true,
  spoilHunks: (draft) => {
    const unit = unitOf(draft.change.before) ?? "  ";
    const shift = draft.random.chance(0.8) ? unit : unit + unit;
    return reindent(draft, (indent) => shift + indent);
  },
};

const shallower: Corruption = {
  name: "indent-shallower",
  fold: "lax",
  allowsReindent: true,
  spoilHunks: (draft) => {
    const unit = unitOf(draft.change.before);
    const all = draft.hunks.flatMap((hunk) => indents(hunk));
    if (unit === undefined || !hasTwoOldLines(draft) || !all.every((indent) => indent.startsWith(unit))) {
      return undefined;
    }
    return reindent(draft, (indent) => indent.slice(unit.length));
  },
};

/** Each added line's depth follows from the removed line it replaces, or from both its neighbours. */
function isFlat(hunk: Hunk): boolean {
  const { ops } = hunk;
  const same = (index: number, text: string): boolean => {
    const op = ops[index];
    return op !== undefined && op.kind === " " && !isBlank(op.text) && indentOf(op.text) === indentOf(text);
  };
  for (let index = 0; index < ops.length; ) {
    let end = index;
    while (end < ops.length && ops[end]?.kind !== " ") end++;
    const run = ops.slice(index, end);
    const [removed, added] = [textsOf(run, "-"), textsOf(run, "+")];
    const paired = removed.length === added.length;
    const fits = (text: string, at: number): boolean =>
      paired ? indentOf(text) === indentOf(removed[at] ?? "") : same(index - 1, text) && same(end, text);
    if (!added.every((text, at) => !isBlank(text) && fits(text, at))) return false;
    index = Math.max(end, index + 1);
  }
  return true;
}

function textsOf(ops: readonly LineOp[], kind: string): string[] {
  return ops.filter((op) => op.kind === kind).map(({ text }) => text);
}

const stripped: Corruption = {
  name: "indent-stripped",
  fold: "lax",
  spoilHunks: (draft) =>
    hasTwoOldLines(draft) && draft.hunks.every(isFlat) ? reindent(draft, () => "") : undefined,
};

/** An added line's depth is unknown: a depth other than the file's is damage, a refusal is not. */
const strippedDeep: Corruption = {
  name: "indent-stripped-nested",
  fold: "lax",
  orRefuse: true,
  spoilHunks: (draft) =>
    hasTwoOldLines(draft) && !draft.hunks.every(isFlat) && isIndented(draft.change.language)
      ? reindent(draft, () => "")
      : undefined,
};

const oneLine: Corruption = {
  name: "indent-dropped-one-line",
  fold: "lax",
  formats: stringFormats,
  orRefuse: true,
  context: [0, 0],
  spoilHunks: (draft) => {
    const [hunk] = draft.hunks;
    if (draft.hunks.length !== 1 || hunk === undefined || oldLines(hunk).length !== 1) return undefined;
    const indent = indentOf(oldLines(hunk)[0] ?? "");
    const added = newLines(hunk).filter((line) => !isBlank(line));
    if (indent === "" || added.length < 2 || !added.every((line) => line.startsWith(indent)))
      return undefined;
    return reindent(draft, (own) => own.slice(indent.length));
  },
};

const firstLine: Corruption = {
  name: "indent-first-line-lost",
  fold: "lax",
  formats: stringFormats,
  context: [1, 3],
  spoilHunks: (draft) => {
    const ready = draft.hunks.every(
      ({ ops }) =>
        ops[0]?.kind === " " && indentOf(ops[0].text) !== "" && indentOf(ops[1]?.text ?? "") !== "",
    );
    if (!ready || !hasTwoOldLines(draft)) return undefined;
    return mapOps(draft.hunks, ({ text }, index) => (index === 0 ? text.trimStart() : text));
  },
};

/** The kept and removed lines include an indented one, and all indentation uses this character alone. */
function isPure({ hunks, change }: Draft, unit: string): boolean {
  const pure = (indent: string): boolean => indent.replaceAll(unit, "") === "";
  const shown = hunks.every((hunk) => indents(hunk, " -").some((indent) => indent !== ""));
  return unitOf(change.before) === unit && shown && hunks.every((hunk) => indents(hunk).every(pure));
}

const tabsToSpaces: Corruption = {
  name: "tabs-to-spaces",
  fold: "lax",
  allowsReindent: true,
  spoilHunks: (draft) => {
    const width = draft.random.pick([2, 4, 8]);
    if (!isPure(draft, "\t")) return undefined;
    return reindent(draft, (indent) => " ".repeat(indent.length * width));
  },
};

const spacesToTabs: Corruption = {
  name: "spaces-to-tabs",
  fold: "lax",
  allowsReindent: true,
  spoilHunks: (draft) => {
    const unit = unitOf(draft.change.before);
    if (unit === undefined || unit === "\t" || !isPure(draft, unit)) return undefined;
    return reindent(draft, (indent) => "\t".repeat(indent.length / unit.length));
  },
};

/** Two spaces for four or the reverse: each added depth also occurs on a kept or removed line. */
const rescaled: Corruption = {
  name: "indent-rescaled",
  fold: "lax",
  spoilHunks: (draft) => {
    const unit = unitOf(draft.change.before);
    if (unit === undefined || unit === "\t" || !isPure(draft, unit)) return undefined;
    const known = (hunk: Hunk): boolean =>
      indents(hunk, "+").every((indent) => indents(hunk, " -").includes(indent));
    const levels = (hunk: Hunk): number => new Set(indents(hunk, " -")).size;
    if (!draft.hunks.every((hunk) => known(hunk) && levels(hunk) > 1)) return undefined;
    const other = unit.length === 4 ? 2 : 4;
    return reindent(draft, (indent) => " ".repeat((indent.length / unit.length) * other));
  },
};

/** The model read tabs as spaces, but its own lines have tabs like the file. */
const tabsInNewOnly: Corruption = {
  name: "tabs-to-spaces-in-old",
  fold: "lax",
  context: [1, 3],
  spoilHunks: (draft) => {
    const width = draft.random.pick([2, 4, 8]);
    const shown = draft.hunks.every((hunk) => indents(hunk, "+").some((indent) => indent !== ""));
    if (!isPure(draft, "\t") || !shown) return undefined;
    return mapOps(draft.hunks, ({ kind, text }) =>
      kind === "+" ? text : " ".repeat(indentOf(text).length * width) + text.slice(indentOf(text).length),
    );
  },
};

/** `old` is in the wrong column while `new` matches the final file, kept lines included. */
const wrongInOld: Corruption = {
  name: "indent-wrong-in-old-only",
  fold: "lax",
  formats: stringFormats,
  context: [2, 4],
  orRefuse: true,
  spoilRequest: (request, draft) => {
    const { hunks, random } = draft;
    const kept = (hunk: Hunk): number => indents(hunk, " ").filter((indent) => indent !== "").length;
    if (!hasTwoOldLines(draft) || !hunks.every((hunk) => kept(hunk) >= 2)) return undefined;
    const shift = random.chance(0.5) ? (unitOf(draft.change.before) ?? "  ") : undefined;
    const moved = (line: string): string => (shift === undefined ? line.trimStart() : shift + line);
    const edits = request.edits?.map((edit) => ({
      ...edit,
      old_string: edit.old_string
        .split("\n")
        .map((line) => (isBlank(line) ? line : moved(line)))
        .join("\n"),
    }));
    return edits && { ...request, edits };
  },
};

export const indentCorruptions: readonly Corruption[] = [
  deeper,
  shallower,
  stripped,
  strippedDeep,
  oneLine,
  firstLine,
  tabsToSpaces,
  spacesToTabs,
  rescaled,
  tabsInNewOnly,
  wrongInOld,
];
