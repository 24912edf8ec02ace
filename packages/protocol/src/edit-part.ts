/** Edit part: what a person took of an edit, and what not. */
import * as v from "valibot";
import type { Effect } from "./decision.ts";

/** A file as a call would leave it. A version is that of the text before; null where there is no file. */
export interface ProposedFile {
  /** As the call's effects name it. */
  readonly path: string;
  /** Where it goes, of a file that is moved. */
  readonly to?: string;
  readonly version: string | null;
  /** Absent where there is no file. */
  readonly before?: string;
  readonly after?: string;
}

/** Of one file: hunks are counted from 0; one that comes, goes or moves is one hunk. */
export interface PartOfFile extends Pick<ProposedFile, "path" | "to" | "version"> {
  readonly of: number;
  readonly taken: readonly number[];
}

export interface EditPart {
  readonly files: readonly PartOfFile[];
  /** What the person said to it. */
  readonly words?: string;
}

const count = v.pipe(v.number(), v.integer(), v.minValue(0));

export const editPartSchema: v.GenericSchema<unknown, EditPart> = v.object({
  files: v.array(
    v.object({
      path: v.string(),
      to: v.exactOptional(v.string()),
      version: v.nullable(v.string()),
      of: count,
      taken: v.array(count),
    }),
  ),
  words: v.exactOptional(v.string()),
});

export function isEditPart(value: unknown): value is EditPart {
  return v.is(editPartSchema, value);
}

/** Without those of files of which nothing was taken. */
export function effectsOfPart(effects: readonly Effect[], { files }: EditPart): readonly Effect[] {
  const targets = (wanted: boolean): ReadonlySet<string> =>
    new Set(
      files
        .filter(({ taken }) => taken.length > 0 === wanted)
        .flatMap(({ path, to }) => (to === undefined ? [path] : [path, to])),
    );
  const [kept, left] = [targets(true), targets(false)];
  return effects.filter(({ target }) => kept.has(target) || !left.has(target));
}
