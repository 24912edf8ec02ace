/** Edit part: which part of an edit a person accepted. */
import * as v from "valibot";
import type { Effect } from "./decision.ts";
import { type Failure, failure } from "./failure.ts";

/** A file as a call would leave it. `version` is that of the old text; null if there is no file yet. */
export interface ProposedFile {
  /** The path as in the call's effects. */
  readonly path: string;
  /** The new path, if the file is moved. */
  readonly to?: string;
  readonly version: string | null;
  /** Absent if there is no file. */
  readonly before?: string;
  readonly after?: string;
}

/** The accepted part of one file: hunks are counted from 0; a created, deleted or moved file is one hunk. */
export interface PartOfFile extends Pick<ProposedFile, "path" | "to" | "version"> {
  readonly of: number;
  readonly taken: readonly number[];
}

export interface EditPart {
  readonly files: readonly PartOfFile[];
  /** The person's comment on it. */
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

/** The effects without those of files from which no hunk was accepted. */
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

/** A file of a proposed edit, with its hunks. */
export interface FileOfHunks extends Pick<PartOfFile, "path" | "to" | "version"> {
  readonly hunks: readonly string[];
}

/** The accepted hunks of one file, by index from 0. */
export interface TakenHunks {
  readonly path: string;
  readonly hunks: readonly number[];
}

/** `taken`: the accepted hunks of each file, in the order of the files. */
export function partOf(files: readonly FileOfHunks[], taken: readonly (readonly number[])[]): EditPart {
  return {
    files: files.map(({ path, to, version, hunks }, at) => ({
      path,
      version,
      of: hunks.length,
      taken: taken[at] ?? [],
      ...(to !== undefined && { to }),
    })),
  };
}

/** *Contract:* a failure if `taken` is empty or names a file or hunk that does not exist. */
export function choosePart(files: readonly FileOfHunks[], taken: readonly TakenHunks[]): EditPart | Failure {
  for (const { path, hunks } of taken) {
    const there = files.filter((file) => file.path === path);
    if (there.length !== 1) {
      const names = files.map((file) => file.path).join(", ");
      return wrong(`there is no file ${path} in the edit; its files: ${names}`);
    }
    const count = there[0]?.hunks.length ?? 0;
    const beyond = hunks.find((hunk) => !Number.isInteger(hunk) || hunk < 0 || hunk >= count);
    if (beyond !== undefined) {
      const known = count === 1 ? "one, which is 0" : `${count}, from 0 to ${count - 1}`;
      return wrong(`there is no hunk ${beyond} of ${path}; it has ${known}`);
    }
  }
  const chosen = files.map(({ path }) => {
    const all = taken.filter((one) => one.path === path).flatMap(({ hunks }) => hunks);
    return [...new Set(all)].toSorted((a, b) => a - b);
  });
  if (chosen.every((hunks) => hunks.length === 0)) {
    return wrong('it names no hunk: answer "deny" to take nothing');
  }
  return partOf(files, chosen);
}

function wrong(why: string): Failure {
  return failure("invalid-arguments", `no part of this edit can be taken so: ${why}`, { who: "user" });
}
