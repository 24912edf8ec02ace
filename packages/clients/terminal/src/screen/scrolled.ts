/** The last lines of a long text, for the terminal's scrollback. */

import type { Theme } from "../colour/theme.ts";
import { plural } from "../text/figures.ts";
import { harmless } from "../text/fit.ts";

const maxLines = 2_000;

/** `elsewhere`: where a person can find the whole text. */
export function scrolled(text: string, { dim }: Theme, elsewhere = ""): readonly string[] {
  const clean = harmless(text).trimEnd();
  const lines = clean === "" ? [] : clean.split("\n");
  const left = lines.length - maxLines;
  const where = elsewhere === "" ? "" : `: ${elsewhere}`;
  const cut = left > 0 ? [dim(`… ${plural(left, "line")} before these${where}`)] : [];
  return [...cut, ...lines.slice(-maxLines).map((line) => `    ${line}`)];
}
