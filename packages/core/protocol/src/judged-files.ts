/** Judged files: what the verdict on a command depended on, so that nothing else runs in its place. */
import * as v from "valibot";

/** Digests of files by the absolute path each was read from; null where there was none to judge. */
export type JudgedFiles = Readonly<Record<string, string | null>>;

export const judgedFilesSchema: v.GenericSchema<unknown, JudgedFiles> = v.record(
  v.string(),
  v.nullable(v.string()),
);

/** Longer files are not judged: they count as the project's code. */
export const maxJudgedBytes: number = 256 * 1024;

/** The paths whose content is not the same in both; what only one of them names counts as well. */
export function changedJudgedFiles(before: JudgedFiles, now: JudgedFiles): readonly string[] {
  const paths = new Set([...Object.keys(before), ...Object.keys(now)]);
  return [...paths].filter((path) => before[path] !== now[path]).sort();
}
