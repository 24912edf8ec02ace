/** StoredLine: what one line of a session's file holds: an event or a mark, and the epoch it was written in. */
import type { Event } from "@lathe/protocol";

export interface StoredLine {
  /** The epoch of its writer. First in every line: `salvage` looks for it. */
  readonly e: number;
  /** How many more lines of the same append follow; none of them counts before the last is there. */
  readonly more?: number;
  /** On the lines of an append that holds a claim: tells it from others that wanted the same epoch. */
  readonly claim?: string;
  /** On a claim: the owner it takes over from died during an effect under its lease. */
  readonly over?: true;
  /** A mark: the owner begins or has ended effects during which no claim counts. */
  readonly fence?: boolean;
  /** A mark: the owner gave the session up. */
  readonly released?: true;
  /** Present when it is an event; its other fields are the event's. */
  readonly type?: string;
}

const start = '{"e":';

export function encodeMark(mark: StoredLine): string {
  return `${JSON.stringify(mark)}\n`;
}

/** The lines of one append; `claim` goes with each of them. */
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
 * A line as it was stored, or undefined when no writer produces it. A line cut short by a crash or a full disk
 * has the next writer's line right behind it: then that one counts. What was cut short has an open brace, so no
 * other part of such a line can be taken for a whole one.
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
