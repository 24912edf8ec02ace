/** Correct edits whose text looks like a fault: an engine must not unwrap, refuse or shorten them. */
import { applied, type Change, type Hunk, type LineOp } from "./change.ts";
import {
  type CaseMaker,
  type Corruption,
  type DraftedCase,
  draftHunks,
  recoverable,
  stringFormats,
} from "./draft.ts";
import { type EditFormat, editFormats } from "./edit-case.ts";
import { commentLine, isProse } from "./language.ts";
import { exactPlaces } from "./oracle.ts";
import { requestOf } from "./render.ts";
import type { SeededRandom } from "./seeded-random.ts";
import { indentOf, writeLines } from "./text-lines.ts";
import { withComment } from "./unicode-corruptions.ts";

const wrapped = [
  "a &lt; b &amp;&amp; c &gt; d, said &quot;e&quot;",
  "1: first, 2: second",
  'split at \\n and \\t, \\"quoted\\" as \\u00e9',
  "12 | twelve | XII",
  "```ts",
];

/** A kept line and an added one contain text that unwrapping would change. */
const escapesInFile = withLines("clean-escapes-in-file", (change, random) => {
  const text = random.pick(wrapped);
  const commented = withComment(change, text, random);
  const added = commentLine(change.language, `${text}!`);
  return commented && added ? { change: commented, added } : undefined;
});

const sentences = [
  "Loading... (this may take a while)",
  "prints the rest of the arguments, one a line",
  "keeps the existing order of the entries",
  "waits 3... 2... 1... and starts",
  "the remaining ones are tried in turn",
];

/** Comments with placeholder words that are no placeholders. */
const harmlessWords = withLines("clean-placeholder-words", (change, random) => {
  const added = commentLine(change.language, random.pick(sentences));
  return added ? { change, added } : undefined;
});

const signTexts = [
  "costs $$5, $& and $1, $` then $', \\1 and \\n",
  "%s %d %% \\0 \\x41",
  "$" + "{HOME} `id` $(id)",
];

/** Added text that a careless replacement would read as commands. */
const signs = withLines("clean-replacement-signs", (change, random) => {
  const added = commentLine(change.language, random.pick(signTexts));
  return added ? { change, added } : undefined;
});

const markerLines = ["--- a/x.txt", "+++ b/x.txt", "@@ -1,2 +1,2 @@", "diff --git a/x b/x", "======="];

/** Lines that look like a patch's own markers are still text. */
const markers = withLines("clean-marker-lines", (change, random) => {
  const added = random.pick(markerLines);
  return isProse(change.language) && !change.before.includes(added) ? { change, added } : undefined;
});

type Prepare = (
  change: Change,
  random: SeededRandom,
) => { readonly change: Change; readonly added: string } | undefined;

/** The change with one more added line at the end of its first hunk. */
function withLines(name: string, prepare: Prepare): CaseMaker {
  const make = (original: Change, format: EditFormat, random: SeededRandom): DraftedCase | undefined => {
    const prepared = prepare(original, random);
    const [first, ...rest] = prepared?.change.cores ?? [];
    if (prepared === undefined || first === undefined) return undefined;
    const line: LineOp = { kind: "+", text: indentOf(first.ops.at(-1)?.text ?? "") + prepared.added };
    const cores = [{ ...first, ops: [...first.ops, line] }, ...rest];
    const change = { ...prepared.change, cores, after: applied(prepared.change.before, cores) };
    const hunks = draftHunks(change, format, { random, context: [1, 3] });
    if (hunks === undefined) return undefined;
    const content = writeLines(change.after, change.style);
    return { request: requestOf(change, hunks, { format }), expect: { content } };
  };
  return { name, formats: editFormats, make };
}

/** The file already has the change's other hunks: the edit is right, its numbers are not. */
const rebased: CaseMaker = {
  name: "rebased",
  formats: editFormats,
  make: (change, format, random) => {
    const hunks = draftHunks(change, format, { random, context: [1, 3] });
    if (hunks === undefined || hunks.length < 2) return undefined;
    const hunk = random.pick(hunks) as Hunk;
    const file = applied(
      change.before,
      hunks.filter((one) => one !== hunk),
    );
    const old = hunk.ops.filter(({ kind }) => kind !== "+").map(({ text }) => text);
    if (exactPlaces(file, old, format) !== 1 || !change.style.final) return undefined;
    const request = { ...requestOf(change, [hunk], { format }), content: writeLines(file, change.style) };
    return { request, expect: { content: writeLines(change.after, change.style) } };
  },
};

/** Only added lines under a header: they belong right below it, not at the file's end. */
const belowHeader: CaseMaker = {
  name: "added-below-header",
  formats: ["v4a"],
  make: (change, format, random) => {
    const core = random.pick(change.cores);
    const header = change.before[core.start - 1] ?? "";
    const only = core.ops.every(({ kind }) => kind === "+");
    const once = change.before.filter((line) => line.trim() === header.trim()).length === 1;
    if (!only || !once || !/[A-Za-z]{3}/.test(header)) return undefined;
    const request = requestOf(change, [{ ...core, header: header.trim() }], { format });
    const content = writeLines(applied(change.before, [core]), change.style);
    return { request, expect: { content, orRefuse: true } };
  },
};

const allFlag: Corruption = {
  name: "clean-replace-all-of-one",
  fold: "exact",
  formats: stringFormats,
  spoilRequest: (request) => {
    const edits = request.edits?.map((edit) => ({ ...edit, replace_all: true }));
    return edits && { ...request, edits };
  },
};

export const lookalikeMakers: readonly CaseMaker[] = [
  escapesInFile,
  harmlessWords,
  signs,
  markers,
  rebased,
  belowHeader,
  recoverable(allFlag),
];
