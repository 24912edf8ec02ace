/**
 * Makes queries from commits: each subject and whole message, asked at its parent, and the source files it
 * changed.
 */
import { kindOf, languageOf } from "@lathe/search/languages";
import { git } from "./git.ts";

export interface CommitQuery {
  readonly commit: string;
  /** The subject. */
  readonly query: string;
  /** The whole message, without sign-off lines. */
  readonly message: string;
  readonly paths: readonly string[];
}

/** How many of the newest commits are considered. */
const looked = 3000;
const noSubject =
  /^(?:merge|revert|bump|release|v?\d|update (?:dependenc|changelog|readme)|chore|docs?[(:]|ci[(:]|test)/i;

const trailer = /^[A-Z][\w-]+-by:.*$/gm;

/** *Contract:* returns the same commits for the same history; oldest first. */
export function commitQueries(folder: string, count: number): readonly CommitQuery[] {
  const log = git(
    folder,
    "log",
    `-n${looked}`,
    "--no-merges",
    "--no-renames",
    "--name-status",
    "--format=%x01%H%x02%s%x02%b%x02",
  );
  const found = log.split("\u0001").slice(1).flatMap(queryOf);
  const step = Math.max(1, Math.floor(found.length / count));
  return found
    .filter((_, at) => at % step === 0)
    .slice(0, count)
    .reverse();
}

function queryOf(piece: string): readonly CommitQuery[] {
  const [commit = "", subject = "", body = "", files = ""] = piece.split("\u0002");
  const changed = files
    .trim()
    .split("\n")
    .map((line) => line.split("\t"))
    .filter(([state]) => state === "M");
  const paths = changed
    .map(([, path = ""]) => path)
    .filter((path) => kindOf(path, languageOf(path)) === "code");
  const words = subject.split(/\s+/).length;
  const isClear = words >= 4 && paths.length >= 1 && paths.length <= 5 && !noSubject.test(subject);
  const query = subject.replaceAll(/\s*\(#\d+\)/g, "");
  const message = `${query}\n\n${body.replaceAll(trailer, "")}`.trim();
  return isClear ? [{ commit, query, message, paths }] : [];
}
