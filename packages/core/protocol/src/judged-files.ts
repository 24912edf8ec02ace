/**
 * Judged files: the files that a command's verdict depended on, so that no other content runs in their place.
 */
import * as v from "valibot";

/** File digests by the absolute path each was read from; null if there was no file. */
export type JudgedFiles = Readonly<Record<string, string | null>>;

export const judgedFilesSchema: v.GenericSchema<unknown, JudgedFiles> = v.record(
  v.string(),
  v.nullable(v.string()),
);

/** Larger files are not judged; they count as the project's code. */
export const maxJudgedBytes: number = 256 * 1024;

/** Paths whose content differs, including those that only one side names. */
export function changedJudgedFiles(before: JudgedFiles, now: JudgedFiles): readonly string[] {
  const paths = new Set([...Object.keys(before), ...Object.keys(now)]);
  return [...paths].filter((path) => before[path] !== now[path]).sort();
}
