/** White space that models add or lose: at line ends, inside lines, and as whole blank lines. */
import type { Change, Hunk, LineOp } from "./change.ts";
import { oldEnd } from "./change.ts";
import { type Corruption, mapOps, patchFormats, stringFormats } from "./draft.ts";
import { indentOf, isBlank } from "./text-lines.ts";

const trailingAdded: Corruption = {
  name: "trailing-space-added",
  fold: "trailing",
  context: [1, 3],
  spoilHunks: ({ hunks, random }) =>
    mapOps(hunks, ({ kind, text }) =>
      kind !== "+" && random.chance(0.5) ? text + random.pick([" ", "  ", "\t"]) : text,
    ),
};

/** Maps the same kept lines of both versions, a few lines around the hunks, through one function. */
function editKept(change: Change, map: (line: string) => string): Change {
  const near = (index: number): boolean =>
    change.cores.some((core) => index >= core.start - 4 && index < oldEnd(core) + 4);
  const changed = new Set(change.cores.flatMap((core) => removedIndexes(core)));
  const before = change.before.map((line, index) => (near(index) && !changed.has(index) ? map(line) : line));
  return withBefore(change, before);
}

function removedIndexes(core: Hunk): number[] {
  const old = core.ops.filter(({ kind }) => kind !== "+");
  return old.flatMap(({ kind }, index) => (kind === "-" ? [core.start + index] : []));
}

/** The change on another old text with as many lines: kept lines inside the hunks follow it. */
export function withBefore(change: Change, before: readonly string[]): Change {
  const cores = change.cores.map((core) => {
    let at = core.start;
    const ops = core.ops.map((op): LineOp => {
      if (op.kind === "+") return op;
      return { kind: op.kind, text: before[at++] ?? "" };
    });
    return { ...core, ops };
  });
  const after = [...before];
  for (const core of cores.toReversed()) {
    const added = core.ops.filter(({ kind }) => kind !== "-").map(({ text }) => text);
    after.splice(core.start, core.ops.filter(({ kind }) => kind !== "+").length, ...added);
  }
  return { ...change, before, after, cores };
}

const trailingLost: Corruption = {
  name: "trailing-space-lost",
  fold: "trailing",
  context: [2, 3],
  prepare: (change, random) =>
    editKept(change, (line) => (random.chance(0.4) ? line + random.pick(["  ", " ", "\t"]) : line)),
  spoilHunks: ({ hunks }) => mapOps(hunks, ({ kind, text }) => (kind === " " ? text.trimEnd() : text)),
};

const blankIndented: Corruption = {
  name: "blank-line-indented",
  fold: "trailing",
  context: [2, 4],
  spoilHunks: ({ hunks }) =>
    mapOps(hunks, ({ kind, text }, index, { ops }) =>
      kind === " " && text === "" ? indentOf(ops[index + 1]?.text ?? ops[index - 1]?.text ?? "") : text,
    ),
};

const innerCollapsed: Corruption = {
  name: "inner-space-collapsed",
  fold: "lax",
  context: [1, 3],
  spoilHunks: ({ hunks }) =>
    mapOps(hunks, ({ kind, text }) =>
      kind === "+"
        ? text
        : indentOf(text) + text.slice(indentOf(text).length).replace(/(\S)[ \t]{2,}(?=\S)/g, "$1 "),
    ),
};

/** One kept line loses or gains a space around a sign, as formatters and models do. */
const innerChanged: Corruption = {
  name: "inner-space-changed",
  fold: "lax",
  context: [1, 3],
  spoilHunks: ({ hunks, random }) => {
    const map = random.pick<(text: string) => string>([
      (text) => text.replace(/ ([=+<>:|&-]+) /, "$1"),
      (text) => text.replace(/([(,{[])\s?(?=\w)/, "$1 "),
      (text) => text.replace(/, (?=\S)/, ","),
    ]);
    return mapOps(hunks, ({ kind, text }) =>
      kind === " " ? indentOf(text) + map(text.slice(indentOf(text).length)) : text,
    );
  },
};

/** Removes blank kept lines between kept lines. */
const blankLost: Corruption = {
  name: "blank-line-lost",
  fold: "lax",
  context: [3, 6],
  spoilHunks: ({ hunks }) =>
    hunks.map((hunk) => ({
      ...hunk,
      ops: hunk.ops.filter(({ text }, index) => !(isBlank(text) && isInside(hunk.ops, index))),
    })),
};

function isInside(ops: readonly LineOp[], index: number): boolean {
  return [-1, 0, 1].every((step) => {
    const op = ops[index + step];
    return op?.kind === " " && (step === 0 || !isBlank(op.text));
  });
}

/** Adds a blank line between two kept lines. */
const blankAdded: Corruption = {
  name: "blank-line-added",
  fold: "lax",
  context: [2, 4],
  spoilHunks: ({ hunks }) => {
    const spoiled = hunks.map((hunk) => {
      const { ops } = hunk;
      const at = ops.findIndex(({ kind, text }, index) => {
        const next = ops[index + 1];
        return kind === " " && next?.kind === " " && !isBlank(text) && !isBlank(next.text);
      });
      return at === -1 ? hunk : { ...hunk, ops: ops.toSpliced(at + 1, 0, { kind: " ", text: "" }) };
    });
    return spoiled;
  },
};

const surrounding: Corruption = {
  name: "surrounding-blank-lines",
  fold: "lax",
  formats: stringFormats,
  spoilRequest: (request, { random }) => {
    const [lead, tail] = random.pick([
      ["\n", "\n"],
      ["\n", ""],
      ["\n\n", "\n"],
      ["\n", "\n  "],
    ]) as [string, string];
    const edits = request.edits?.map((edit) => ({
      old_string: lead + edit.old_string + tail,
      new_string: lead + edit.new_string + tail,
    }));
    const found = edits?.some((edit) => request.content.replaceAll("\r\n", "\n").includes(edit.old_string));
    return edits === undefined || found ? undefined : { ...request, edits };
  },
};

/** `old` ends with a newline that `new` lacks: taken literally it would join two lines. */
const closedOldOnly: Corruption = {
  name: "old-newline-only",
  fold: "lax",
  formats: stringFormats,
  orRefuse: true,
  dress: () => ({ closed: true }),
  spoilRequest: (request, { hunks, change }) => {
    const fits = hunks.every(
      (hunk) => oldEnd(hunk) < change.before.length && !isBlank(hunk.ops.at(-1)?.text ?? ""),
    );
    if (!fits) return undefined;
    const edits = request.edits?.map((edit) => ({ ...edit, new_string: edit.new_string.replace(/\n$/, "") }));
    return edits?.every((edit) => edit.new_string !== "") ? { ...request, edits } : undefined;
  },
};

/** Blank context lines of a patch without their leading space. */
const blankUnmarked: Corruption = {
  name: "blank-context-unmarked",
  fold: "exact",
  formats: patchFormats,
  spoilRequest: (request) => {
    const patch = request.patch?.replace(/^ $/gm, "");
    return patch === request.patch || patch === undefined ? undefined : { ...request, patch };
  },
};

/** Context lines of a patch without the leading space: they start in the file's own column. */
const contextUnmarked: Corruption = {
  name: "context-unmarked",
  fold: "lax",
  formats: patchFormats,
  spoilRequest: (request, { hunks }) => {
    const kept = hunks.flatMap(({ ops }) => ops.filter(({ kind }) => kind === " "));
    const clear = kept.every(({ text }) => !/^([-+\\@*]|diff|index)/.test(text));
    const body = request.patch?.replace(/^ (?=.*\S)/gm, "");
    return !clear || body === undefined || body === request.patch ? undefined : { ...request, patch: body };
  },
};

export const spaceCorruptions: readonly Corruption[] = [
  trailingAdded,
  trailingLost,
  blankIndented,
  innerCollapsed,
  innerChanged,
  blankLost,
  blankAdded,
  surrounding,
  closedOldOnly,
  blankUnmarked,
  contextUnmarked,
];
