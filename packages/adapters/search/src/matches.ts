/** Collects the matches that ripgrep prints as JSON, up to a limit. */
import { type GrepLine, type GrepResult, matchedPart, type Span } from "@lathe/protocol";
import { toPath } from "./place.ts";

/** Of one line; more are not shown. */
const maxSpans = 100;

/** Bytes that ripgrep reads at a time: of a file that it comes upon it drops those with a NUL, and all that follow. */
const readAtOnce = 65_536;

interface Encoded {
  readonly text?: string;
  readonly bytes?: string;
}

/** In bytes of the line. */
interface ByteSpan {
  readonly start: number;
  readonly end: number;
}

/** A file's matches before it is known whether it is binary. */
interface Open {
  readonly lines: GrepLine[];
  matches: number;
  /** In bytes of the file, where the first one begins. */
  first?: number;
}

interface Printed {
  readonly type: "begin" | "match" | "context" | "end" | "summary";
  readonly data: {
    readonly path?: Encoded | null;
    readonly lines?: Encoded;
    readonly line_number?: number | null;
    readonly absolute_offset?: number;
    readonly submatches?: readonly ByteSpan[];
    readonly binary_offset?: number | null;
  };
}

export interface MatchCollector {
  /** *Contract:* one line of ripgrep's output; false when the limit is passed. */
  record(line: string): boolean;
  result(): Pick<GrepResult, "lines" | "more" | "binary"> & { readonly summarised: boolean };
  /** The file whose matches are being printed. */
  openPath(): string | undefined;
}

export interface MatchOptions {
  readonly limit: number;
  /** Files are given one by one that ripgrep would have come upon: it then looks further into binary ones than else. */
  readonly isGiven: boolean;
  wanted(path: string): boolean;
  /** *Contract:* called with each file that has a match, before its matches are printed. */
  begun(path: string): void;
}

export function collectMatches({ limit, isGiven, wanted, begun }: MatchOptions): MatchCollector {
  const lines: GrepLine[] = [];
  const binary: string[] = [];
  let open: Open = { lines: [], matches: 0 };
  let matches = 0;
  let more = false;
  let summarised = false;
  let openPath: string | undefined;
  const add = ({ type, data }: Printed): void => {
    const path = pathOf(data);
    if (!wanted(path)) return;
    const match = type === "match";
    if (match && matches + open.matches >= limit) more = true;
    if (more) return;
    if (match) {
      open.matches++;
      open.first ??= (data.absolute_offset ?? 0) + (data.submatches?.[0]?.start ?? 0);
    }
    for (const line of linesOf(path, match, data)) open.lines.push(line);
  };
  const end = ({ binary_offset: nul, ...data }: Printed["data"]): void => {
    if (typeof nul !== "number") {
      for (const one of open.lines) lines.push(one);
      matches += open.matches;
    } else if (open.first !== undefined && !(isGiven && open.first >= nul - readAtOnce))
      binary.push(pathOf(data));
    open = { lines: [], matches: 0 };
    openPath = undefined;
  };
  return {
    record(text) {
      if (text === "") return true;
      const printed = JSON.parse(text) as Printed;
      if (printed.type === "begin") {
        openPath = pathOf(printed.data);
        begun(openPath);
      }
      if (printed.type === "match" || printed.type === "context") add(printed);
      if (printed.type === "summary") summarised = true;
      if (printed.type === "end") end(printed.data);
      return !more;
    },
    result: () => ({ lines: [...lines, ...open.lines], more, binary, summarised }),
    openPath: () => openPath,
  };
}

function pathOf({ path }: Printed["data"]): string {
  return toPath(decoded(path ?? {}));
}

function linesOf(path: string, match: boolean, data: Printed["data"]): readonly GrepLine[] {
  const first = data.line_number ?? 0;
  const texts = decoded(data.lines ?? {})
    .replace(/\r?\n$/, "")
    .split(/\r?\n/);
  return texts.map((text, i) => {
    const spans = i === 0 && match ? spansIn(text, data.submatches ?? []) : [];
    return { path, line: first + i, match, ...matchedPart(text, spans) };
  });
}

/** Bytes of what is no UTF-8 are told as the signs that stand for them, so that spans there are near enough. */
function spansIn(text: string, matches: readonly ByteSpan[]): readonly Span[] {
  const bytes = Buffer.from(text);
  const at = (byte: number): number =>
    bytes.length === text.length ? byte : bytes.toString("utf8", 0, byte).length;
  return matches
    .slice(0, maxSpans)
    .map(({ start, end }): Span => [at(start), Math.min(at(end), text.length)])
    .filter(([from, to]) => from < to);
}

function decoded({ text, bytes }: Encoded): string {
  return text ?? Buffer.from(bytes ?? "", "base64").toString("utf8");
}
