/** Collects the matches that ripgrep prints as JSON, up to a limit. */
import { type GrepLine, type GrepResult, matchedPart, type Span } from "@lathe/protocol";

/** Of one line; more are not shown. */
const mostSpans = 100;

interface Encoded {
  readonly text?: string;
  readonly bytes?: string;
}

/** In bytes of the line. */
interface ByteSpan {
  readonly start: number;
  readonly end: number;
}

interface Printed {
  readonly type: "begin" | "match" | "context" | "end" | "summary";
  readonly data: {
    readonly path?: Encoded | null;
    readonly lines?: Encoded;
    readonly line_number?: number | null;
    readonly submatches?: readonly ByteSpan[];
    readonly binary_offset?: number | null;
  };
}

export interface Collected {
  /** *Contract:* one line of ripgrep's output; false when the limit is passed. */
  record(line: string): boolean;
  result(): Pick<GrepResult, "lines" | "more"> & { readonly summarised: boolean };
  /** The file whose matches are being printed. */
  openPath(): string | undefined;
}

export interface Wanted {
  readonly limit: number;
  wanted(path: string): boolean;
  /** *Contract:* called with each file that has a match, before its matches are printed. */
  begun(path: string): void;
}

export function collectMatches({ limit, wanted, begun }: Wanted): Collected {
  const lines: GrepLine[] = [];
  // A file's lines count once the file is known not to be binary.
  let open: GrepLine[] = [];
  let matches = 0;
  let openMatches = 0;
  let more = false;
  let summarised = false;
  let openPath: string | undefined;
  const add = ({ type, data }: Printed): void => {
    const path = pathOf(data);
    if (!wanted(path)) return;
    const match = type === "match";
    if (match && matches + openMatches >= limit) more = true;
    if (more) return;
    if (match) openMatches++;
    for (const line of linesOf(path, match, data)) open.push(line);
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
      if (printed.type === "end") {
        if (typeof printed.data.binary_offset !== "number") {
          lines.push(...open);
          matches += openMatches;
        }
        open = [];
        openMatches = 0;
        openPath = undefined;
      }
      return !more;
    },
    result: () => ({ lines: [...lines, ...open], more, summarised }),
    openPath: () => openPath,
  };
}

function pathOf({ path }: Printed["data"]): string {
  return decoded(path ?? {})
    .replaceAll("\\", "/")
    .replace(/^\.\//, "");
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
    .slice(0, mostSpans)
    .map(({ start, end }): Span => [at(start), Math.min(at(end), text.length)])
    .filter(([from, to]) => from < to);
}

function decoded({ text, bytes }: Encoded): string {
  return text ?? Buffer.from(bytes ?? "", "base64").toString("utf8");
}
