import { closeSync, createReadStream, fstatSync } from "node:fs";
import { type Failure, failure, type GrepQuery, type GrepResult, isFailure } from "@lathe/protocol";
import { openInside } from "@lathe/system/open-inside";
import { acrossLines, crossesLines } from "./across-lines.ts";
import type { FileFilter } from "./file-filter.ts";
import { collectMatches } from "./matches.ts";
import { nestedIgnore } from "./nested-ignore.ts";
import { commonArgs, type Place, startOf } from "./place.ts";
import { runRipgrep } from "./ripgrep.ts";

/** Bytes of the longest line that is searched. */
const maxLine = 4 * 1024 * 1024;

/** Bytes that are looked at: a tenth of a second's worth. */
const looked = 256 * 1024 * 1024;

const newline = 10;

/** Files that a search is begun again without; with more of them it ends early. */
const maxSkipped = 8;
/** Of what ripgrep says of files that it could not search: lines, and characters of one. */
const maxUnsearched = 8;
const unsearchedChars = 300;

export interface GrepRequest {
  readonly fileFilter: FileFilter;
  readonly query: GrepQuery;
  /** Only these files, in this order, whatever is ignored; all that are below the place when absent. */
  readonly candidates?: readonly string[];
}

interface Searched extends GrepRequest {
  readonly skipped: readonly string[];
}

type Found = Omit<GrepResult, "leftOut" | "noFiles">;

export async function grep(place: Place, asked: GrepRequest, signal: AbortSignal): Promise<Found | Failure> {
  const skipped: string[] = [];
  const { fileFilter } = asked;
  const told = (): readonly string[] =>
    skipped.filter((path) => fileFilter.wanted(path) && !fileFilter.excluded(path));
  for (;;) {
    const found = await search(place, { ...asked, skipped }, signal);
    if (isFailure(found)) return found;
    const { tooLong, ...result } = found;
    if (tooLong === undefined) return { ...result, skipped: told() };
    const isHopeless = skipped.includes(tooLong) || skipped.length === maxSkipped;
    if (isHopeless) return { ...result, more: true, skipped: told() };
    skipped.push(tooLong);
    if (place.path === tooLong)
      return { lines: [], more: false, skipped: told(), binary: [], unsearched: [] };
  }
}

/** One run; `tooLong` names a file that it should be begun again without. */
async function search(
  place: Place,
  { fileFilter, query, candidates, skipped }: Searched,
  signal: AbortSignal,
): Promise<(Omit<Found, "skipped"> & { readonly tooLong?: string }) | Failure> {
  const stop = new AbortController();
  const looks: Promise<void>[] = [];
  let tooLong: string | undefined;
  const ignored = nestedIgnore(place);
  const look = async (path: string): Promise<void> => {
    if (!(await hasLongLine(place.root, path, stop.signal))) return;
    tooLong ??= path;
    stop.abort();
  };
  const { record, result, openPath } = collectMatches({
    limit: query.limit,
    isGiven: candidates !== undefined,
    wanted: (path) => fileFilter.wanted(path) && !fileFilter.excluded(path) && !ignored(path),
    begun: (path) => looks.push(look(path)),
  });
  const args = [
    ...grepArgs(place, { query, fileFilter, skipped }),
    ...(candidates ? candidateArgs(candidates, skipped) : ["--", startOf(place)]),
  ];
  const { program, root } = place;
  const run = { program, args, cwd: root, separator: "\n", signal, stop: stop.signal, record } as const;
  const ended = await runRipgrep(run);
  if (isFailure(ended)) stop.abort();
  await Promise.all(looks);
  if (isFailure(ended)) return ended;
  const { summarised, ...rest } = result();
  // Exit 2 with a summary means that some files could not be searched; without one, that nothing was.
  if (ended.code === 2 && !summarised) return notSearched(query.pattern, ended.errors);
  const found = { ...rest, unsearched: ended.code === 2 ? firstLines(ended.errors) : [] };
  tooLong ??= ended.early === "long-record" ? openPath() : undefined;
  return tooLong === undefined ? found : { ...found, tooLong };
}

function firstLines(errors: string): readonly string[] {
  const lines = errors.split("\n").filter((line) => line.trim() !== "");
  return lines.slice(0, maxUnsearched).map((line) => line.slice(0, unsearchedChars));
}

function grepArgs(place: Place, { query, fileFilter, skipped }: Searched): readonly string[] {
  const { names = [] } = fileFilter;
  const isAcross = crossesLines(query);
  const left = [...(query.exclude ?? []), ...skipped.map(anchored)];
  return [
    // The name of a file is wanted before its matches are counted out.
    "--json",
    "--line-buffered",
    "--crlf",
    "--sort",
    "path",
    "--no-ignore-messages",
    ...commonArgs(place),
    ...left.flatMap((glob) => ["--glob", `!${glob}`]),
    ...(query.literal && !isAcross ? ["--fixed-strings"] : ["--engine", "auto"]),
    ...(query.ignoreCase ? ["--ignore-case"] : []),
    ...(isAcross ? ["--multiline"] : []),
    ...(query.context ? ["--context", String(query.context)] : []),
    // Types only narrow what is searched; a name that a type does not know how to say is left to the matcher.
    ...names.flatMap((name) => ["--type-add", `wanted:${name}`]),
    ...(names.length > 0 ? ["--type", "wanted"] : []),
    "--regexp",
    isAcross ? acrossLines(query) : query.pattern,
  ];
}

/** Mapped into memory a file would count as text whatever lies behind its beginning. */
function candidateArgs(candidates: readonly string[], skipped: readonly string[]): readonly string[] {
  const paths = candidates.filter((path) => !skipped.includes(path)).map((path) => `./${path}`);
  // With none it is told to read its empty input: what is wrong with a pattern it says all the same.
  return ["--no-mmap", "--", ...(paths.length > 0 ? paths : ["-"])];
}

function anchored(path: string): string {
  return `/${path.replace(/[\\*?[\]{}!]/gu, "\\$&")}`;
}

/** Both engines have refused it: PCRE2 knows more than the other one, so that what it says is why. */
function notSearched(pattern: string, errors: string): Failure {
  const [, why] = /^PCRE2: .*? at offset \d+: (.*)$/m.exec(errors) ?? /^error: (.*)$/m.exec(errors) ?? [];
  if (why === undefined) return failure("search-failed", errors.trim().slice(0, 400) || "ripgrep failed.");
  const shown = pattern.length > 80 ? `${pattern.slice(0, 80)}…` : pattern;
  const hint = "put \\ before what stands for itself, or set literal to search for plain text";
  return failure("search-failed", `${shown} is not a regular expression: ${why}; ${hint}.`);
}

/** Reads no more than it must; false for what cannot be read, and once the signal aborted. */
async function hasLongLine(root: string, path: string, signal: AbortSignal): Promise<boolean> {
  let file: number | undefined;
  try {
    file = openInside(root, path);
    // Each file with a match is asked about while ripgrep finds the next: to wait for one takes ten times as long.
    if (fstatSync(file).size <= maxLine) return false;
    let length = 0;
    const stream = createReadStream("", { fd: file, highWaterMark: maxLine / 4, end: looked, signal });
    // The stream closes it, once no read of it is under way.
    file = undefined;
    for await (const chunk of stream) {
      const first = chunk.indexOf(newline);
      if (length + (first < 0 ? chunk.length : first) > maxLine) return true;
      length = first < 0 ? length + chunk.length : chunk.length - chunk.lastIndexOf(newline) - 1;
    }
    return false;
  } catch {
    // Ripgrep says itself what it could not read.
    return false;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
