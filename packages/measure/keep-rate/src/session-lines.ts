/** Session lines: the lines that a session's edits added and that existed when it ended. */
import type { Aligner } from "./align.ts";
import type { Text } from "./text.ts";

/** One edit of one file, in the order of the session. */
export interface Edit {
  readonly path: string;
  readonly from: string | null;
  /** Undefined where there was or is no file, or where its text is lost. */
  readonly before: Text | undefined;
  readonly after: Text | undefined;
}

/** A file at the end of a session. */
export interface EndedFile {
  readonly path: string;
  readonly text: Text;
  /** The index of the edit that added each line; undefined for lines of others. */
  readonly owner: readonly (number | undefined)[];
}

/** `endOf` gives a file at the end of the session: null where there was no file, undefined where unknown. */
export function sessionLines(
  edits: readonly Edit[],
  align: Aligner,
  endOf: (path: string) => Text | undefined | null,
): readonly EndedFile[] {
  const files = new Map<string, EndedFile>();
  for (const [index, { path, from, before, after }] of edits.entries()) {
    const known = files.get(from ?? path) ?? files.get(path);
    if (from !== null) files.delete(from);
    files.delete(path);
    if (!after) continue;
    const start = known && before ? carry(known, before, align) : (known ?? unowned(path, before));
    files.set(path, { ...edited(start, after, { align, index }), path });
  }
  return [...files.values()].flatMap((file) => {
    const end = endOf(file.path);
    if (end === null) return [];
    return [end ? { ...carry(file, end, align), path: file.path } : file];
  });
}

function unowned(path: string, text: Text | undefined): EndedFile | undefined {
  return text && { path, text, owner: text.lines.map(() => undefined) };
}

/** Carries the owners over to a later text; its new lines have no owner. */
function carry(file: EndedFile, text: Text, align: Aligner): EndedFile {
  if (file.text === text) return file;
  const owner: (number | undefined)[] = text.lines.map(() => undefined);
  for (const [line, lines] of align(file.text, text).to.entries()) {
    for (const now of lines ?? []) owner[now] = file.owner[line];
  }
  return { ...file, text, owner };
}

function edited(
  start: EndedFile | undefined,
  text: Text,
  { align, index }: { readonly align: Aligner; readonly index: number },
): Pick<EndedFile, "text" | "owner"> {
  if (!start) return { text, owner: text.lines.map(() => index) };
  const owner: (number | undefined)[] = text.lines.map(() => index);
  const { to, laidOut } = align(start.text, text);
  for (const [line, lines] of to.entries()) {
    // A line that the agent only reformatted keeps its owner.
    for (const now of lines ?? []) owner[now] = start.owner[line];
    if (laidOut.has(line) && start.owner[line] === undefined)
      for (const now of lines ?? []) owner[now] = undefined;
  }
  return { text, owner };
}
