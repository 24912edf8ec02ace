/**
 * Files with other line endings, a byte order mark or no final newline: bytes outside the edit must not
 * change.
 */
import { type Change, coresOf, oldEnd, oldLines } from "./change.ts";
import { type CaseMaker, type DraftedCase, draftHunks } from "./draft.ts";
import { type EditFormat, type EditRequest, editFormats } from "./edit-case.ts";
import { requestOf } from "./render.ts";
import type { SeededRandom } from "./seeded-random.ts";
import { type FileStyle, writeLines } from "./text-lines.ts";

/** A plain edit of the file in another style; `spoil` may change the request afterwards. */
function styled(
  name: string,
  style: (random: SeededRandom) => Partial<FileStyle>,
  spoil: (request: EditRequest) => EditRequest = (request) => request,
): CaseMaker {
  const make = (original: Change, format: EditFormat, random: SeededRandom): DraftedCase | undefined => {
    const change = { ...original, style: { ...original.style, ...style(random) } };
    const hunks = draftHunks(change, format, { random });
    if (hunks === undefined) return undefined;
    const request = spoil(requestOf(change, hunks, { format }));
    return { request, expect: { content: writeLines(change.after, change.style) } };
  };
  return { name, formats: editFormats, make };
}

function withCrlf(request: EditRequest): EditRequest {
  const crlf = (text: string): string => text.replaceAll("\n", "\r\n");
  const edits = request.edits?.map((edit) => ({
    old_string: crlf(edit.old_string),
    new_string: crlf(edit.new_string),
  }));
  const patch = request.patch
    ?.split("\n")
    .map((line) => (/^([-+ ](?!--|\+\+)|$)/.test(line) ? `${line}\r` : line));
  return { ...request, ...(edits ? { edits } : {}), ...(patch ? { patch: patch.join("\n") } : {}) };
}

/** The hunk at the file's end, where a missing final newline is easily lost or added. */
function atEnd(name: string, inPatch: (patch: string) => string): CaseMaker {
  const make = (original: Change, format: EditFormat, random: SeededRandom): DraftedCase | undefined => {
    const change = endingWith(original, random);
    if (change === undefined) return undefined;
    const hunks = draftHunks(change, format, { random });
    if (hunks === undefined) return undefined;
    const request = requestOf(change, hunks, { format });
    const { patch } = request;
    const expect = { content: writeLines(change.after, change.style) };
    return { request: patch === undefined ? request : { ...request, patch: inPatch(patch) }, expect };
  };
  return { name, formats: name.endsWith("marker-missing") ? ["udiff"] : editFormats, make };
}

/** The file cut right below its first hunk, or a few lines later, without a final newline. */
function endingWith(change: Change, random: SeededRandom): Change | undefined {
  const [core] = change.cores;
  if (core === undefined) return undefined;
  const end = oldEnd(core) + random.pick([0, 0, 1, 2]);
  const before = change.before.slice(0, end);
  const kept = before.slice(oldEnd(core));
  const added = core.ops.filter(({ kind }) => kind !== "-").map(({ text }) => text);
  const after = [...before.slice(0, core.start), ...added, ...kept];
  if (end > change.before.length || after.at(-1) === "" || before.at(-1) === "") return undefined;
  return { ...change, before, after, cores: [core], style: { ...change.style, final: false } };
}

/** Distant and kept lines have the other ending; lines around the hunks have the file's. */
function mixed(): CaseMaker {
  const make = (change: Change, format: EditFormat, random: SeededRandom): DraftedCase | undefined => {
    const hunks = draftHunks(change, format, { random });
    if (hunks === undefined || !change.style.final) return undefined;
    const eol = random.pick(["\n", "\r\n"] as const);
    const style = { ...change.style, eol };
    const other = eol === "\n" ? "\r\n" : "\n";
    const far = (index: number): boolean =>
      change.cores.every((core) => index < core.start - 2 || index >= oldEnd(core) + 2);
    const odd = change.before.flatMap((_, index) => (far(index) && random.chance(0.1) ? [index] : []));
    if (odd.length === 0) return undefined;
    const finishedCommands = new Map(odd.map((index) => [index, other]));
    const moved = new Map(odd.map((index) => [movedIndex(change, index), other]));
    const content = writeLines(change.before, style, finishedCommands);
    return {
      request: { ...requestOf(change, hunks, { format }), content },
      expect: { content: writeLines(change.after, style, moved) },
    };
  };
  return { name: "file-mixed-endings", formats: editFormats, make };
}

/** A kept line's index after the change. */
function movedIndex(change: Change, index: number): number {
  const above = change.cores.filter((core) => oldEnd(core) <= index);
  const grown = above.map(({ ops }) => ops.filter(({ kind }) => kind !== "-").length);
  return (
    index +
    grown.reduce((sum, count) => sum + count, 0) -
    above.reduce((sum, core) => sum + oldLines(core).length, 0)
  );
}

/** `old` and `new` end with a newline that the file's last line lacks. */
function closedAtEnd(): CaseMaker {
  const make = (original: Change, format: EditFormat, random: SeededRandom): DraftedCase | undefined => {
    const change = endingWith(original, random);
    const hunks = change && draftHunks(change, format, { random, context: [0, 3] });
    if (change === undefined || hunks === undefined) return undefined;
    const reaching = hunks.every((hunk) => oldEnd(hunk) === change.before.length);
    if (!reaching) return undefined;
    const request = requestOf(change, hunks, { format, dress: { closed: true } });
    return { request, expect: { content: writeLines(change.after, change.style) } };
  };
  return { name: "final-newline-invented", formats: ["search_replace"], make };
}

/** Only the final newline changes, which only a unified diff can express. */
function newlineAdded(): CaseMaker {
  const make = (change: Change): DraftedCase | undefined => {
    const last = change.before.at(-1) ?? "";
    const kept = change.before.slice(-4, -1).map((line) => ` ${line}`);
    if (last.trim() === "" || change.before.length < 5) return undefined;
    const from = change.before.length - 3;
    const body = [
      `@@ -${from},4 +${from},4 @@`,
      ...kept,
      `-${last}`,
      "\\ No newline at end of file",
      `+${last}`,
    ];
    const patch = [`--- a/${change.path}`, `+++ b/${change.path}`, ...body, ""].join("\n");
    const content = writeLines(change.before, { ...change.style, final: false });
    const expected = writeLines(change.before, { ...change.style, final: true });
    return {
      request: { id: "", path: change.path, content, format: "udiff", patch },
      expect: { content: expected },
    };
  };
  return { name: "final-newline-added", formats: ["udiff"], make };
}

/** The first hunk begins at the file's first line, after a byte order mark. */
function bomAtHunk(): CaseMaker {
  const make = (original: Change, format: EditFormat, random: SeededRandom): DraftedCase | undefined => {
    const [core] = original.cores;
    if (core === undefined || original.before.length - core.start < 5) return undefined;
    const before = original.before.slice(core.start);
    const [top] = coresOf(before, [
      ...core.ops.filter(({ kind }) => kind !== "-").map(({ text }) => text),
      ...before.slice(oldLines(core).length),
    ]);
    if (top === undefined || top.start !== 0) return undefined;
    const after = [...top.ops.filter(({ kind }) => kind !== "-").map(({ text }) => text)];
    after.push(...before.slice(oldLines(top).length));
    const change = { ...original, before, after, cores: [top], style: { ...original.style, bom: true } };
    const hunks = draftHunks(change, format, { random });
    if (hunks === undefined) return undefined;
    const content = writeLines(after, change.style);
    return { request: requestOf(change, hunks, { format }), expect: { content } };
  };
  return { name: "bom-at-first-hunk", formats: editFormats, make };
}

export const endingMakers: readonly CaseMaker[] = [
  styled("file-crlf", () => ({ eol: "\r\n" })),
  styled("file-crlf-edit-crlf", () => ({ eol: "\r\n" }), withCrlf),
  styled("edit-crlf", () => ({ eol: "\n" }), withCrlf),
  styled("file-bom", (random) => ({ bom: true, eol: random.pick(["\n", "\r\n"] as const) })),
  styled("file-no-final-newline", () => ({ final: false })),
  bomAtHunk(),
  atEnd("hunk-at-end-no-final-newline", (patch) => patch),
  atEnd("no-newline-marker-missing", (patch) => patch.replaceAll("\n\\ No newline at end of file", "")),
  closedAtEnd(),
  newlineAdded(),
  mixed(),
];
