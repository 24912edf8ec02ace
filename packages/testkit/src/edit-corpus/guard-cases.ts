/** Edits that must be refused however well they match: placeholders, no-ops, overlaps, half elisions. */
import { type Change, type Hunk, type LineOp, oldLines } from "./change.ts";
import { type CaseMaker, type DraftedCase, draftHunks, patchFormats, stringFormats } from "./draft.ts";
import { type EditFormat, type EditRequest, editFormats, type StringEdit } from "./edit-case.ts";
import { commentLine } from "./language.ts";
import { exactPlaces, isInformative, laxText, placesOf, textOf } from "./oracle.ts";
import { requestOf } from "./render.ts";
import type { SeededRandom } from "./seeded-random.ts";
import { otherWord } from "./stale-cases.ts";
import { indentOf, isBlank, writeLines } from "./text-lines.ts";
import { elided, elisionMark } from "./wrapper-corruptions.ts";

const refuse = { refuse: true } as const;

const placeholders = [
  "... existing code ...",
  "rest of the code unchanged",
  "... (rest of the code remains the same)",
  "... rest of the function ...",
  "remaining code stays the same",
  "... keep existing code ...",
  "(existing implementation)",
  "... other methods remain unchanged ...",
  "[rest of file unchanged]",
  "... unchanged ...",
];

/** A placeholder replaces the last added or kept lines of a hunk. */
const placeholder: CaseMaker = {
  name: "placeholder-in-new",
  formats: editFormats,
  make: (change, format, random) => {
    const hunks = draftHunks(change, format, { random, context: [2, 6] });
    const [hunk, ...rest] = hunks ?? [];
    const comment = commentLine(change.language, random.pick(placeholders));
    if (hunk === undefined || comment === undefined || ["markdown", "text"].includes(change.language))
      return undefined;
    const ops = withPlaceholder(hunk, comment);
    const shown = change.before.some((line) => line.trim() === comment);
    if (ops === undefined || shown) return undefined;
    return { request: requestOf(change, [{ ...hunk, ops }, ...rest], { format }), expect: refuse };
  },
};

/** Removes the kept lines after the last change, and puts the placeholder in their place. */
function withPlaceholder(hunk: Hunk, comment: string): LineOp[] | undefined {
  const last = hunk.ops.findLastIndex(({ kind }) => kind !== " ");
  const tail = hunk.ops.slice(last + 1);
  if (tail.length < 2 || tail.every(({ text }) => isBlank(text))) return undefined;
  const indent = indentOf(tail.find(({ text }) => !isBlank(text))?.text ?? "");
  const removed = tail.map(({ text }): LineOp => ({ kind: "-", text }));
  return [...hunk.ops.slice(0, last + 1), ...removed, { kind: "+", text: indent + comment }];
}

function onStrings(
  name: string,
  make: (draft: StringDraft) => readonly StringEdit[] | undefined,
  context?: readonly [number, number],
): CaseMaker {
  return {
    name,
    formats: stringFormats,
    make: (change, format, random) => {
      const hunks = draftHunks(change, format, { random, context });
      if (hunks === undefined) return undefined;
      const request = requestOf(change, hunks, { format });
      const edits = make({ change, hunks, request, random });
      return edits === undefined ? undefined : { request: { ...request, edits }, expect: refuse };
    },
  };
}

interface StringDraft {
  readonly change: Change;
  readonly hunks: readonly Hunk[];
  readonly request: EditRequest;
  readonly random: SeededRandom;
}

const strings: readonly CaseMaker[] = [
  onStrings("empty-old", ({ request, random }) => {
    const [edit] = request.edits ?? [];
    return edit && [{ old_string: random.pick(["", "", "\n", "  ", "\n\n"]), new_string: edit.new_string }];
  }),
  onStrings("no-op", ({ request }) =>
    request.edits?.map(({ old_string }) => ({ old_string, new_string: old_string })),
  ),
  onStrings("no-edits", () => []),
  onStrings(
    "elision-in-old-only",
    ({ change, hunks, random, request }) => {
      const mark = elisionMark({ change, random } as never);
      const texts = elided({ change, hunks, random, format: request.format }, mark);
      const [whole] = request.edits ?? [];
      return texts && whole && [{ old_string: texts.old, new_string: whole.new_string }];
    },
    [7, 12],
  ),
  onStrings(
    "elision-in-new-only",
    ({ change, hunks, random, request }) => {
      if (["python", "markdown", "text"].includes(change.language)) return undefined;
      const mark = elisionMark({ change, random } as never);
      const texts = elided({ change, hunks, random, format: request.format }, mark);
      const [whole] = request.edits ?? [];
      return texts && whole && [{ old_string: whole.old_string, new_string: texts.new }];
    },
    [7, 12],
  ),
  onStrings("elision-piece-ambiguous", ambiguousElision, [7, 12]),
];

/** The first piece of a paired elision occurs in several places. */
function ambiguousElision({ change, hunks, random, request }: StringDraft): StringEdit[] | undefined {
  const [hunk] = hunks;
  if (hunks.length !== 1 || hunk === undefined) return undefined;
  const texts = elided({ change, hunks, random, format: request.format }, "...");
  const common = random
    .shuffled(change.before.slice(0, hunk.start))
    .find((line) => !isBlank(line) && placesOf(change.before.slice(0, hunk.start), [line], "exact") > 1);
  const head = oldLines(hunk).slice(0, 2);
  if (texts === undefined || common === undefined) return undefined;
  const swap = (text: string): string => text.replace(textOf(head), () => common);
  return [{ old_string: swap(texts.old), new_string: swap(texts.new) }];
}

/** Two edits that change the same line, each correct alone. */
const overlap: CaseMaker = {
  name: "overlapping-edits",
  formats: editFormats,
  make: (change, format, random) => {
    const hunks = draftHunks(change, format, { random, context: [1, 2] });
    const [hunk] = hunks ?? [];
    const at =
      hunk?.ops.findIndex(({ kind, text }) => kind === "-" && otherWord(text, random) !== undefined) ?? -1;
    if (hunk === undefined || at === -1) return undefined;
    const ops = hunk.ops.flatMap((op, index): LineOp[] => {
      if (op.kind === "+") return [];
      const other = index === at ? otherWord(op.text, random) : undefined;
      if (other === undefined) return [{ kind: " ", text: op.text }];
      return [
        { kind: "-", text: op.text },
        { kind: "+", text: other },
      ];
    });
    return { request: requestOf(change, [hunk, { ...hunk, ops }], { format }), expect: refuse };
  },
};

function onPatch(
  name: string,
  patch: (change: Change, hunk: Hunk, format: EditFormat) => string | undefined,
): CaseMaker {
  return {
    name,
    formats: patchFormats,
    make: (change, format, random): DraftedCase | undefined => {
      const [hunk] = draftHunks(change, format, { random }) ?? [];
      const text = hunk && patch(change, hunk, format);
      const content = writeLines(change.before, change.style);
      return text === undefined
        ? undefined
        : { request: { id: "", path: change.path, content, format, patch: text }, expect: refuse };
    },
  };
}

function patchOf(change: Change, lines: readonly string[], format: EditFormat): string {
  const [open, close] =
    format === "v4a"
      ? [["*** Begin Patch", `*** Update File: ${change.path}`], ["*** End Patch"]]
      : [[`--- a/${change.path}`, `+++ b/${change.path}`], [""]];
  return [...open, ...lines, ...close].join("\n");
}

const patches: readonly CaseMaker[] = [
  onPatch("patch-without-change", (change, hunk, format) => {
    const kept = oldLines(hunk).map((line) => ` ${line}`);
    return patchOf(change, ["@@", ...kept], format);
  }),
  onPatch("patch-without-hunks", (change, _, format) => patchOf(change, [], format)),
  onPatch("patch-same-lines", (change, hunk, format) => {
    const lines = hunk.ops.filter(({ kind }) => kind !== "+");
    if (!lines.some(({ kind }) => kind === "-")) return undefined;
    return patchOf(
      change,
      ["@@", ...lines.flatMap((op) => (op.kind === "-" ? [`-${op.text}`, `+${op.text}`] : [` ${op.text}`]))],
      format,
    );
  }),
  onPatch("patch-empty", () => ""),
];

/** Too little text to be found except by its exact characters: a brace in the wrong column. */
const littleText: CaseMaker = {
  name: "too-little-text",
  formats: editFormats,
  make: (change, format, random) => {
    const shorts = change.before.flatMap((line, index) => (/^\s*[})\]]+[;,]?$/.test(line) ? [index] : []));
    const index = random.pick(shorts);
    const line = change.before[index ?? 0] ?? "";
    const hunk: Hunk = {
      start: index ?? 0,
      ops: [
        { kind: " ", text: `${line.startsWith("\t") ? "\t" : " "}   ${line}` },
        { kind: "+", text: `    ${line.trim()} again();` },
      ],
    };
    const few = exactPlaces(change.before, oldLines(hunk), format) === 0;
    if (index === undefined || !few || isInformative(hunk) || laxText([line]).length > 4) return undefined;
    const request = requestOf(change, [hunk], { format });
    const patch = request.patch?.replace(/^@@.*$/m, "@@");
    return { request: patch === undefined ? request : { ...request, patch }, expect: refuse };
  },
};

export const guardMakers: readonly CaseMaker[] = [placeholder, ...strings, overlap, ...patches, littleText];
