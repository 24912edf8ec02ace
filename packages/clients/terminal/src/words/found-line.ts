/** A matching line on one row of a terminal, with the match coloured and visible. */
import type { GrepLine } from "@lathe/protocol";
import type { Palette } from "../colour/palette.ts";
import { beginning, columnsTaken, ending } from "../text/columns.ts";
import { harmless } from "../text/fit.ts";

/** The line with its indentation, in at most `width` columns. */
export function cutLine(text: string, width: number): string {
  return beginning(shown(text), width);
}

/** The same, cut at the start if the first match would be out of sight. */
export function foundLine(
  { text, spans }: Pick<GrepLine, "text" | "spans">,
  width: number,
  paint: Palette,
): string {
  const [[from, to] = [0, 0]] = spans;
  const before = shown(text.slice(0, from));
  const match = Math.min(columnsTaken(shown(text.slice(from, to))), width - 1);
  const fits = columnsTaken(before) + match <= width;
  const lead = fits
    ? before
    : `…${ending(before, Math.max(0, Math.min(Math.floor(width / 3), width - 1 - match)))}`;
  let room = width - columnsTaken(lead);
  let line = lead;
  const add = (piece: string, painted: (text: string) => string): void => {
    const part = beginning(shown(piece), room);
    room -= columnsTaken(part);
    if (part !== "") line += painted(part);
  };
  let at = from;
  for (const [start, end] of spans) {
    add(text.slice(at, start), (part) => part);
    add(text.slice(start, end), (part) => paint.bold(paint.red(part)));
    at = end;
  }
  add(text.slice(at), (part) => part);
  return line;
}

function shown(text: string): string {
  return harmless(text.replaceAll("\t", "  "));
}
