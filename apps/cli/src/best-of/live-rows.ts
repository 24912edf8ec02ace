/** A line per attempt on standard error: redrawn on a terminal, printed on each change elsewhere. */
import type { AttemptRow, Observer } from "@lathe/attempts";
import { columnsOf, fit, type Palette } from "@lathe/terminal";
import { problemLine } from "../command-line/show-failure.ts";
import { rowText } from "./best-of-text.ts";

const redrawMs = 100;

export interface LiveRows extends Observer {
  /** *Contract:* keeps the last rows on the screen; idempotent. */
  close(): void;
}

export function openLiveRows(count: number, out: NodeJS.WriteStream, paint: Palette): LiveRows {
  const remarks = new Set<string>();
  const once = (text: string, say: (line: string) => void): void => {
    if (remarks.has(text)) return;
    remarks.add(text);
    say(problemLine(text));
  };
  return out.isTTY ? drawnRows(count, { out, paint, once }) : toldRows({ out, paint, once });
}

interface Screen {
  readonly out: NodeJS.WriteStream;
  readonly paint: Palette;
  /** Prints a remark once, even if several attempts make it. */
  readonly once: (text: string, say: (line: string) => void) => void;
}

function drawnRows(count: number, { out, paint, once }: Screen): LiveRows {
  const rows: (AttemptRow | undefined)[] = Array.from({ length: count });
  let drawn = 0;
  const erase = (): string => (drawn === 0 ? "" : `\u001b[${drawn}A\u001b[J`);
  const draw = (): void => {
    const width = columnsOf(out) - 1;
    const lines = rows.map((row, at) => `${painted(fit(rowText(at, row), width), row, paint)}\n`);
    out.write(erase() + lines.join(""));
    drawn = count;
  };
  let isStale = true;
  const timer = setInterval(() => {
    if (isStale) draw();
    isStale = false;
  }, redrawMs);
  return {
    onAttempt: (at, row) => {
      rows[at] = row;
      isStale = true;
    },
    onRemark: (text) =>
      once(text, (line) => {
        out.write(erase() + line);
        drawn = 0;
        isStale = true;
      }),
    close: () => {
      clearInterval(timer);
      if (isStale) draw();
      isStale = false;
    },
  };
}

export function painted(line: string, row: AttemptRow | undefined, { dim, green, red }: Palette): string {
  if (!row?.result) return dim(line);
  const { tests, end } = row.result;
  return tests?.passed === false || end !== "done" ? red(line) : green(line);
}

/** Prints when an attempt begins, when its tests begin, and when it has ended. */
function toldRows({ out, once }: Screen): LiveRows {
  const states = new Map<number, AttemptRow["state"]>();
  return {
    onAttempt: (at, row) => {
      if (states.get(at) === row.state) return;
      states.set(at, row.state);
      out.write(`${rowText(at, row)}\n`);
    },
    onRemark: (text) => once(text, (line) => out.write(line)),
    close: () => undefined,
  };
}
