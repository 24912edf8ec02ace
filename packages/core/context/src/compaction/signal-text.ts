/** Signal text: the text that replaces an output when it is shortened. */
import { headOf } from "@lathe/protocol";
import { plainLines } from "./plain-lines.ts";
import { type Signals, signalsOf } from "./signals.ts";

export interface Room {
  /** The workspace. */
  readonly cwd: string;
  /** Maximum characters; names of failures come first. */
  readonly chars: number;
}

/** Characters of one error. */
const errorChars = 160;
/** The last counts of each runner. */
const maxCounts = 6;
/** Characters of one name. */
const nameChars = 200;

export function hasFailed({ runners, failing, errors }: Signals): boolean {
  return runners.length > 0 && failing.length + errors.length > 0;
}

/** A short text about the omitted middle of an output; empty if nothing is known about it. */
export function leftOutText(left: string, whole: string, { cwd, chars }: Room): string {
  const signals = signalsOf(left, cwd, whole);
  return hasFailed(signals) ? signalText(left, signals, chars) : "";
}

/** A short text for an output, from its signals. */
export function signalText(whole: string, signals: Signals, chars: number): string {
  const told = signals.failing.length + signals.errors.length + signals.counts.length;
  const pieces =
    told > 0 && signals.runners.length > 0
      ? [...known(signals), () => ""]
      : [() => excerpt(whole, chars * 0.6), ...known(signals)];
  let left = chars;
  const said: string[] = [];
  for (const piece of pieces) {
    const words = piece(left);
    if (words === "" || words.length > left) continue;
    said.push(words);
    left -= words.length + 1;
  }
  return said.join("\n");
}

type Piece = (room: number) => string;

function known({ runners, failing, errors, counts, places }: Signals): readonly Piece[] {
  const errorLines = errors.map(
    ({ text, times }) => `${cut(text, errorChars)}${times > 1 ? ` (x${times})` : ""}`,
  );
  return [
    () =>
      runners.length === 0
        ? ""
        : `${runners.join(" and ")}: ${counts.slice(-maxCounts * runners.length).join("; ") || "no summary"}`,
    (room) =>
      listed(
        `failing (${failing.length})`,
        failing.map((name) => cut(name, nameChars)),
        room * 0.75,
      ),
    (room) => listed("errors", errorLines, room * 0.8),
    (room) => listed("places", grouped(places), Math.min(room, 600)),
  ];
}

/** As many items as fit; the rest is counted. */
function listed(title: string, items: readonly string[], room: number): string {
  if (items.length === 0) return "";
  const lines: string[] = [];
  let left = room - title.length - 24;
  for (const item of items) {
    if (item.length + 3 > left) break;
    lines.push(`- ${item}`);
    left -= item.length + 3;
  }
  if (lines.length === 0) return "";
  const more = items.length - lines.length;
  return [`${title}:`, ...lines, ...(more > 0 ? [`- ... ${more} more`] : [])].join("\n");
}

/** `a.ts:1`, `a.ts:3` as `a.ts:1,3`. */
function grouped(places: readonly string[]): readonly string[] {
  const files = Map.groupBy(places, (place) => place.slice(0, place.lastIndexOf(":")));
  return [...files].map(([path, own]) => {
    const numbers = own.map((place) => place.slice(place.lastIndexOf(":") + 1));
    return `${path}:${numbers.slice(0, 8).join(",")}${numbers.length > 8 ? ",..." : ""}`;
  });
}

/** For unknown output: its beginning and its end. */
function excerpt(whole: string, chars: number): string {
  const lines = plainLines(whole).filter((line) => line.trim() !== "");
  const head = taken(lines, chars / 3);
  const tail = taken(lines.slice(head.length).reverse(), (chars * 2) / 3).toReversed();
  const left = lines.length - head.length - tail.length;
  return [...head, ...(left > 0 ? [`[... ${left} lines]`] : []), ...tail].join("\n");
}

function taken(lines: readonly string[], chars: number): readonly string[] {
  const out: string[] = [];
  let left = chars;
  for (const line of lines) {
    const words = cut(line, Math.max(80, chars / 2));
    if (words.length + 1 > left) break;
    out.push(words);
    left -= words.length + 1;
  }
  return out;
}

function cut(text: string, chars: number): string {
  return text.length <= chars ? text : `${headOf(text, Math.floor(chars) - 3)}...`;
}
