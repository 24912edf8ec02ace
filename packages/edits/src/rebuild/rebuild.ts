/** The replacement of a tolerant match: what the model did not change keeps the file's bytes, what it did fits in. */
import type { Document } from "../document/document.ts";
import type { Hunk } from "../hunk.ts";
import type { Match } from "../match/find-block.ts";
import { type Alignment, alignLines } from "./align-lines.ts";
import { type IndentMap, indentMap, indentUnit } from "./indent-map.ts";
import { inferIndent } from "./infer-indent.ts";
import { type LineParts, lineParts } from "./line-parts.ts";
import { mergeBody, type Typography, typographyOf, withTypography } from "./merge-body.ts";

type Edit = Pick<Hunk, "old" | "new" | "kept">;

/** Lines for the matched ones; undefined when the indentation of an added line cannot be known. */
export function rebuild(document: Document, match: Match, edit: Edit): readonly string[] | undefined {
  const { twins, loose } = alignLines(edit);
  const sides = readSides(document, match, { ...edit, twins });
  const slots = slotsOf(match, edit, { twins, loose });
  const around = {
    before: document.lines.slice(0, match.from).findLast((line) => line.trim() !== ""),
    after: document.lines.slice(match.to).find((line) => line.trim() !== ""),
  };
  return withInferred(
    slots.map((slot) => builtLine(slot, sides)),
    { ...around, unit: sides.unit },
  );
}

/** One line of the result before it is written. */
type Slot =
  | { readonly type: "file"; readonly line: number }
  | {
      readonly type: "edited";
      readonly file: number;
      readonly old: string;
      readonly fresh: string;
      readonly loose: boolean;
    }
  | { readonly type: "added"; readonly fresh: string };

interface Sides {
  readonly lines: readonly string[];
  readonly indent: IndentMap;
  readonly typography: Typography;
  readonly unit: string;
  /** The model put whitespace on blank lines where the file has none. */
  readonly padsBlanks: boolean;
  /** It did so at the end of every line. */
  readonly padsLines: boolean;
}

function readSides(
  document: Document,
  match: Match,
  { old, new: fresh, twins }: Edit & { readonly twins: readonly (number | undefined)[] },
): Sides {
  const pairs = old.flatMap((line, i) => {
    const file = match.lineOf[i];
    if (file === undefined || line.trim() === "") return [];
    return [{ index: i, old: lineParts(line), current: lineParts(document.lines[file] ?? "") }];
  });
  const unit = indentUnit(document.lines);
  const written = [...old, ...fresh].map((line) => lineParts(line).indent);
  const indents = pairs.map((pair) => ({ model: pair.old.indent, file: pair.current.indent }));
  const current = new Map(pairs.map((pair) => [pair.index, pair.current.indent]));
  const isFitted = isAlreadyFitted({ old, new: fresh }, { twins, current });
  return {
    lines: document.lines,
    indent: isFitted ? (indent) => indent : indentMap(indents, { written, unit }),
    typography: typographyOf(
      pairs.map((pair) => ({ old: pair.old.body, current: pair.current.body })),
      { fresh: fresh.join("\n"), file: document.text },
    ),
    unit,
    ...paddingOf(document, match, old),
  };
}

function paddingOf(
  document: Document,
  match: Match,
  old: readonly string[],
): Pick<Sides, "padsBlanks" | "padsLines"> {
  const ends = old.flatMap((line, i) => {
    const current = document.lines[match.lineOf[i] ?? -1];
    if (current === undefined) return [];
    return [
      { blank: line.trim() === "", old: lineParts(line).trailing, current: lineParts(current).trailing },
    ];
  });
  const pads = (end: { readonly old: string; readonly current: string }): boolean =>
    end.old !== "" && end.current === "";
  const kept = ends.some((end) => end.old !== "" && end.old === end.current);
  const solid = ends.filter((end) => !end.blank);
  return { padsBlanks: !kept && ends.some(pads), padsLines: solid.length > 0 && solid.every(pads) };
}

/** The model copied `old` with a wrong indentation, and wrote `new` with the file's. */
function isAlreadyFitted(
  { old, new: fresh }: Edit,
  { twins, current }: { twins: readonly (number | undefined)[]; current: ReadonlyMap<number, string> },
): boolean {
  let fitted = 0;
  for (const [i, twin] of twins.entries()) {
    if (twin === undefined) continue;
    const was = lineParts(old[twin] ?? "");
    const now = lineParts(fresh[i] ?? "");
    const file = current.get(twin);
    if (file === undefined || file === was.indent || now.body === "") continue;
    if (now.indent !== file) return false;
    fitted++;
  }
  return fitted > 0;
}

function slotsOf(match: Match, edit: Edit, { twins, loose }: Alignment): readonly Slot[] {
  const slots: Slot[] = [];
  const paired = new Set(twins);
  let next = 0;
  let file = match.from;
  const blanksUntil = (line: number): void => {
    for (; file < line; file++) slots.push({ type: "file", line: file });
  };
  /** Passes the old lines up to `end`: of those that go, the first keeps the blank lines only the file has before it. */
  const pass = (end: number): void => {
    for (let isFirst = true; next < end; next++) {
      const line = match.lineOf[next];
      if (line === undefined || paired.has(next)) continue;
      if (isFirst) blanksUntil(line);
      isFirst = false;
      file = line + 1;
    }
  };
  for (const [i, fresh] of edit.new.entries()) {
    const twin = twins[i];
    if (twin === undefined) {
      pass(nextTwin(twins, i) ?? edit.old.length);
      slots.push({ type: "added", fresh });
      continue;
    }
    pass(twin);
    next = twin + 1;
    const line = match.lineOf[twin];
    if (line === undefined) continue;
    blanksUntil(line);
    slots.push({ type: "edited", file: line, old: edit.old[twin] ?? "", fresh, loose: loose.has(i) });
    file = line + 1;
  }
  pass(edit.old.length);
  return slots;
}

function nextTwin(twins: readonly (number | undefined)[], from: number): number | undefined {
  return twins.slice(from).find((twin) => twin !== undefined);
}

/** A line, or its body alone where its indentation is not known yet. */
type Built = string | { readonly body: string };

function builtLine(slot: Slot, sides: Sides): Built {
  switch (slot.type) {
    case "file":
      return sides.lines[slot.line] ?? "";
    case "edited":
      return editedLine(slot, sides);
    case "added": {
      const { indent, body, trailing } = lineParts(slot.fresh);
      if (body === "") return blankLine(trailing, sides);
      const text = withTypography(body, sides.typography) + (sides.padsLines ? "" : trailing);
      const mapped = sides.indent(indent);
      return mapped === undefined ? { body: text } : mapped + text;
    }
  }
}

function editedLine(slot: Extract<Slot, { type: "edited" }>, sides: Sides): Built {
  const current = sides.lines[slot.file] ?? "";
  if (slot.old === slot.fresh) return current;
  const [file, old, fresh] = [lineParts(current), lineParts(slot.old), lineParts(slot.fresh)];
  if (fresh.body === "") return blankLine(fresh.trailing, sides);
  const body =
    old.body === fresh.body
      ? file.body
      : mergeBody(file.body, { old: old.body, fresh: fresh.body }, sides.typography);
  const text =
    body + (fresh.trailing === old.trailing ? file.trailing : sides.padsLines ? "" : fresh.trailing);
  const mapped = sides.indent(fresh.indent);
  // A line merely like the old one may stand elsewhere.
  const isInPlace = fresh.indent === old.indent && (mapped !== undefined || !slot.loose);
  const indent = isInPlace ? file.indent : mapped;
  return indent === undefined ? { body: text } : indent + text;
}

/** Whitespace on a blank line is indentation to the model. */
function blankLine(whitespace: string, sides: Sides): string {
  if (whitespace === "" || sides.padsBlanks) return "";
  return sides.indent(whitespace) ?? "";
}

interface Around {
  readonly before: string | undefined;
  readonly after: string | undefined;
  readonly unit: string;
}

/** Gives every run of lines without indentation one that the lines around it confirm. */
function withInferred(built: readonly Built[], around: Around): readonly string[] | undefined {
  const lines = [...built];
  for (let at = lines.findIndex(isOpen); at >= 0; at = lines.findIndex(isOpen)) {
    // A run goes on over blank lines: they have no indentation to tell.
    const length = lines.slice(at).findIndex(isSolid);
    const end = length < 0 ? lines.length : at + length;
    const open = [...lines.entries()].slice(at, end).flatMap(([index, line]) => {
      return typeof line === "string" ? [] : [{ index, body: line.body }];
    });
    const indents = inferIndent({
      added: open.map(({ body }) => body),
      before: partsAt(lines.slice(0, at).findLast(isSolid) ?? around.before),
      after: partsAt(lines[end] ?? around.after),
      unit: around.unit,
    });
    if (!indents) return undefined;
    for (const [i, { index, body }] of open.entries()) lines[index] = `${indents[i]}${body}`;
  }
  return lines.filter((line) => typeof line === "string");
}

function isOpen(line: Built): boolean {
  return typeof line !== "string";
}

function isSolid(line: Built): boolean {
  return typeof line === "string" && line.trim() !== "";
}

function partsAt(line: Built | undefined): LineParts | undefined {
  return typeof line === "string" ? lineParts(line) : undefined;
}
