/** Edits of a text that the file no longer contains: each must be refused. */
import { type Change, type Hunk, type LineOp, oldEnd, oldLines } from "./change.ts";
import {
  type CaseMaker,
  type Corruption,
  type DraftedCase,
  draftHunks,
  spoil,
  stringFormats,
} from "./draft.ts";
import { type EditFormat, editFormats } from "./edit-case.ts";
import { isNowhere, laxText } from "./oracle.ts";
import { requestOf } from "./render.ts";
import type { SeededRandom } from "./seeded-random.ts";
import { isBlank, writeLines } from "./text-lines.ts";
import { twinOf } from "./twin.ts";

/** Changes a word or number inside the line; none if the line has no word. */
export function otherWord(line: string, random: SeededRandom): string | undefined {
  const words = [...line.matchAll(/[A-Za-z_]\w{2,}|\d+/g)];
  if (words.length === 0) return undefined;
  const word = random.pick(words);
  const text = word[0];
  const now = /^\d/.test(text)
    ? String(Number(text.slice(0, 9)) + 1)
    : `${text.slice(0, 2)}q${text.slice(2)}`;
  return line.slice(0, word.index) + now + line.slice(word.index + text.length);
}

type Choose = (hunk: Hunk, random: SeededRandom) => number | undefined;

/** File indexes of the hunk's removed lines, and of kept lines right beside a change. */
const touched: Choose = (hunk, random) => {
  const indexes = indexed(hunk).flatMap(({ op, index }) => (op.kind === "-" ? [index] : []));
  return indexes.length === 0 ? undefined : random.pick(indexes);
};

const neighbour: Choose = (hunk, random) => {
  const { ops } = hunk;
  const indexes = indexed(hunk).flatMap(({ op, index, at }) => {
    const beside = [ops[at - 1], ops[at + 1]].some((one) => one !== undefined && one.kind !== " ");
    return op.kind === " " && beside ? [index] : [];
  });
  return indexes.length === 0 ? undefined : random.pick(indexes);
};

function indexed(hunk: Hunk): { op: LineOp; index: number; at: number }[] {
  let next = hunk.start;
  return hunk.ops.flatMap((op, at) => (op.kind === "+" ? [] : [{ op, index: next++, at }]));
}

interface StaleKind {
  readonly name: string;
  readonly change: (file: readonly string[], hunk: Hunk, random: SeededRandom) => string[] | undefined;
}

const wordChanged =
  (choose: Choose): StaleKind["change"] =>
  (file, hunk, random) => {
    const index = choose(hunk, random);
    const line = index === undefined ? undefined : otherWord(file[index] ?? "", random);
    return index === undefined || line === undefined ? undefined : file.toSpliced(index, 1, line);
  };

const kinds: readonly StaleKind[] = [
  { name: "touched-line-changed", change: wordChanged(touched) },
  { name: "neighbour-line-changed", change: wordChanged(neighbour) },
  { name: "target-deleted", change: (file, hunk) => file.toSpliced(hunk.start, oldLines(hunk).length) },
  {
    name: "line-came-between",
    change: (file, hunk, random) => {
      const index = touched(hunk, random);
      const inside = index !== undefined && index > hunk.start;
      return inside ? file.toSpliced(index, 0, "somebody_else = inserted(this, 1)") : undefined;
    },
  },
  {
    name: "lines-swapped",
    change: (file, hunk) => {
      const index = indexed(hunk).map((one) => one.index);
      const at = index.find((one) => {
        const [a, b] = [file[one] ?? "", file[one + 1] ?? ""];
        return index.includes(one + 1) && !isBlank(a) && !isBlank(b) && laxText([a]) !== laxText([b]);
      });
      return at === undefined ? undefined : file.toSpliced(at, 2, file[at + 1] as string, file[at] as string);
    },
  },
  {
    name: "already-applied",
    change: (file, hunk) =>
      file.toSpliced(
        hunk.start,
        oldLines(hunk).length,
        ...hunk.ops.filter(({ kind }) => kind !== "-").map(({ text }) => text),
      ),
  },
  {
    name: "letter-case-changed",
    change: (file, hunk, random) => {
      const index = touched(hunk, random) ?? hunk.start;
      const line = file[index] ?? "";
      const now = line.replace(/[a-z](?=\w{2})/, (letter) => letter.toUpperCase());
      return now === line ? undefined : file.toSpliced(index, 1, now);
    },
  },
  {
    name: "punctuation-changed",
    change: (file, hunk, random) => {
      const index = touched(hunk, random) ?? hunk.start;
      const line = file[index] ?? "";
      const now = /[,;]\s*$/.test(line) ? line.replace(/[,;]\s*$/, "") : line.replace(/[)\]"']\s*$/, "$&,");
      return now === line ? undefined : file.toSpliced(index, 1, now);
    },
  },
];

function stale(kind: StaleKind): CaseMaker {
  const make = (change: Change, format: EditFormat, random: SeededRandom): DraftedCase | undefined => {
    const hunks = draftHunks(change, format, { random, context: [1, 3] });
    if (hunks === undefined) return undefined;
    const hunk = random.pick(hunks);
    const file = kind.change(change.before, hunk, random);
    if (file === undefined || !isNowhere(file, hunk)) return undefined;
    const content = writeLines(file, change.style);
    return { request: { ...requestOf(change, hunks, { format }), content }, expect: { refuse: true } };
  };
  return { name: kind.name, formats: editFormats, make };
}

/** A spoiled edit whose target has changed in one line, too: no unwrapping makes it right. */
export function staleOf(corruption: Corruption): CaseMaker {
  const { formats = editFormats, name } = corruption;
  const make = (original: Change, format: EditFormat, random: SeededRandom): DraftedCase | undefined => {
    const change = corruption.prepare ? corruption.prepare(original, random) : original;
    const hunks = change && draftHunks(change, format, { random, context: corruption.context ?? [1, 3] });
    if (change === undefined || hunks === undefined) return undefined;
    const spoiled = spoil(corruption, { change, hunks, format, random });
    const hunk = random.pick(hunks);
    const file = wordChanged(touched)(change.before, hunk, random);
    if (spoiled === undefined || file === undefined || !isNowhere(file, hunk)) return undefined;
    const content = writeLines(file, change.style);
    return { request: { ...spoiled.request, content }, expect: { refuse: true } };
  };
  return { name: `stale-${name}`, formats, make };
}

/** The true block is gone; a block that differs in one word of the old text still exists. */
const similarElsewhere: CaseMaker = {
  name: "similar-block-elsewhere",
  formats: editFormats,
  make: (original, format, random) => {
    const twin = twinOf(original, random);
    if (twin === undefined) return undefined;
    const plain: Change = { ...original, cores: [random.pick(original.cores)] };
    const hunks = draftHunks(plain, format, { random, context: [1, 3] });
    const [hunk] = hunks ?? [];
    if (hunks === undefined || hunk === undefined) return undefined;
    const { before } = plain;
    const index = touched(hunk, random);
    const other = index === undefined ? undefined : otherWord(before[index] ?? "", random);
    if (index === undefined || other === undefined) return undefined;
    const [from, to] = [Math.max(0, hunk.start - 6), Math.min(before.length, oldEnd(hunk) + 6)];
    const moved = before.slice(from, to).toSpliced(index - from, 1, other);
    const rest = before.toSpliced(from, to - from);
    const file = random.chance(0.5) ? [...rest, ...moved] : [...moved, ...rest];
    if (!isNowhere(file, hunk)) return undefined;
    const content = writeLines(file, plain.style);
    return { request: { ...requestOf(plain, hunks, { format }), content }, expect: { refuse: true } };
  },
};

/** Memory faults in the edit of an unchanged file: a kept line is missing, invented or misremembered. */
function misremembered(
  name: string,
  spoilOps: (ops: readonly LineOp[], random: SeededRandom) => LineOp[] | undefined,
): CaseMaker {
  const make = (change: Change, format: EditFormat, random: SeededRandom): DraftedCase | undefined => {
    const hunks = draftHunks(change, format, { random, context: [2, 4] });
    const [first, ...rest] = hunks ?? [];
    const ops = first && spoilOps(first.ops, random);
    if (first === undefined || ops === undefined) return undefined;
    const hunk = { ...first, ops };
    if (!isNowhere(change.before, hunk)) return undefined;
    return { request: requestOf(change, [hunk, ...rest], { format }), expect: { refuse: true } };
  };
  return { name, formats: editFormats, make };
}

/** Kept lines with a line of the old text on both sides. */
function innerKept(ops: readonly LineOp[]): number[] {
  return ops.flatMap(({ kind, text }, index) => {
    const inside =
      ops.slice(0, index).some((op) => op.kind !== "+") && ops.slice(index + 1).some((op) => op.kind !== "+");
    return kind === " " && inside && !isBlank(text) ? [index] : [];
  });
}

const faults: readonly CaseMaker[] = [
  misremembered("context-line-missing", (ops, random) => {
    const inner = innerKept(ops);
    return inner.length === 0 ? undefined : ops.toSpliced(random.pick(inner), 1);
  }),
  misremembered("context-line-invented", (ops, random) => {
    const inner = innerKept(ops);
    const line: LineOp = { kind: " ", text: "    result = remembered(wrongly)" };
    return inner.length === 0 ? undefined : ops.toSpliced(random.pick(inner), 0, line);
  }),
  misremembered("context-word-wrong", (ops, random) => {
    const inner = innerKept(ops);
    if (inner.length === 0) return undefined;
    const at = random.pick(inner);
    const text = otherWord(ops[at]?.text ?? "", random);
    return text === undefined ? undefined : ops.toSpliced(at, 1, { kind: " ", text });
  }),
  misremembered("compatibility-characters", (ops) => {
    const at = ops.findIndex(({ kind, text }) => kind === " " && /[0-9(]|fi/.test(text));
    if (at === -1) return undefined;
    const text = (ops[at]?.text ?? "").replace(/[0-9(]|fi/, (sign) =>
      sign === "(" ? "\uFF08" : sign === "fi" ? "\uFB01" : String.fromCharCode(0xff10 + Number(sign)),
    );
    return ops.toSpliced(at, 1, { kind: " ", text });
  }),
];

/** A second edit of text that only the first one writes: all edits must match the same file. */
const chained: CaseMaker = {
  name: "second-needs-first",
  formats: editFormats,
  make: (change, format, random) => {
    const single = { ...change, cores: [random.pick(change.cores)] };
    const hunks = draftHunks(single, format, { random, context: [1, 2] });
    const [hunk] = hunks ?? [];
    const at =
      hunk?.ops.findIndex(({ kind, text }) => kind === "+" && otherWord(text, random) !== undefined) ?? -1;
    if (hunk === undefined || at === -1) return undefined;
    const added = hunk.ops.filter(({ kind }) => kind !== "-");
    const ops = added.flatMap((op): LineOp[] => {
      const again = op === hunk.ops[at] ? otherWord(op.text, random) : undefined;
      if (again === undefined) return [{ kind: " ", text: op.text }];
      return [
        { kind: "-", text: op.text },
        { kind: "+", text: again },
      ];
    });
    const second = { ...hunk, ops };
    if (!isNowhere(change.before, second)) return undefined;
    return { request: requestOf(single, [hunk, second], { format }), expect: { refuse: true } };
  },
};

/** One of several edits has no place: none is written. */
const oneOfSeveral: CaseMaker = {
  name: "one-of-several-wrong",
  formats: stringFormats,
  make: (change, format, random) => {
    const hunks = draftHunks(change, format, { random });
    if (hunks === undefined || hunks.length < 2) return undefined;
    const request = requestOf(change, hunks, { format });
    const wrong = {
      old_string: "const neverWritten = here(1);",
      new_string: "const neverWritten = here(2);",
    };
    const edits = random.shuffled([...(request.edits ?? []), wrong]);
    return { request: { ...request, edits }, expect: { refuse: true } };
  },
};

export const staleMakers: readonly CaseMaker[] = [
  ...kinds.map(stale),
  similarElsewhere,
  ...faults,
  chained,
  oneOfSeveral,
];
