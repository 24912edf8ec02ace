/**
 * StoredLine: the content of one line of a session's file: an event or a mark, and the epoch of its writer.
 */
import type { Event } from "@lathe/protocol";

export interface StoredLine {
  /** The epoch of its writer. First in every line: `salvage` looks for it. */
  readonly e: number;
  /** Number of further lines in the same append; none of them counts before the last one is there. */
  readonly more?: number;
  /** In an append that contains a claim: distinguishes it from others for the same epoch. */
  readonly claim?: string;
  /** In a claim: the previous owner died during an effect under its lease. */
  readonly over?: true;
  /** A mark: the owner begins or ends effects, during which no claim counts. */
  readonly fence?: boolean;
  /** A mark: the owner released the session. */
  readonly released?: true;
  /** Present in an event; the other fields are the event's. */
  readonly type?: string;
}

const start = '{"e":';

export function encodeMark(mark: StoredLine): string {
  return `${JSON.stringify(mark)}\n`;
}

/** The lines of one append; each includes `claim`. */
export function encodeEvents(epoch: number, events: readonly Event[], claim?: object): string {
  const last = events.length - 1;
  const extra = claim ? `${JSON.stringify(claim).slice(1, -1)},` : "";
  const lines = events.map((event, index) => {
    const more = index < last ? `,"more":${last - index}` : "";
    return `${start}${epoch}${more},${extra}${JSON.stringify(event).slice(1)}\n`;
  });
  return lines.join("");
}

/**
 * Parses a stored line; undefined if no writer produces it. A line cut short by a crash or a full disk is
 * directly followed by the next writer's line, which then counts. The cut line has an open brace, so no other
 * part of it can look like a whole line.
 */
export function decodeLine(line: string): StoredLine | undefined {
  const whole = parse(line);
  if (whole) return whole;
  for (let at = line.indexOf(start, 1); at > 0; at = line.indexOf(start, at + 1)) {
    const rest = parse(line.slice(at));
    if (rest) return rest;
  }
  return undefined;
}

function parse(text: string): StoredLine | undefined {
  try {
    const value = JSON.parse(text) as StoredLine | null;
    return typeof value?.e === "number" ? value : undefined;
  } catch {
    return undefined;
  }
}
