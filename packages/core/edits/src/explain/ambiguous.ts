/**
 * The error for an edit that matches several places: the places, their surroundings, and a line that
 * distinguishes them.
 */
import type { Failure } from "@lathe/protocol";
import { type Document, wholeLines } from "../document/document.ts";
import { refusal } from "../failures.ts";
import type { Hunk, Tier } from "../hunk.ts";

const placesNamed = 8;

export interface Claim {
  readonly hunk: Hunk;
  readonly name: string;
  readonly tier?: Tier;
}

export function ambiguous(
  document: Document,
  places: readonly { readonly from: number }[],
  { hunk, name, tier = "exact" }: Claim,
): Failure {
  const how = tier === "exact" ? "" : ` (${tier === "unicode" ? "typography" : "whitespace"} aside)`;
  const noun = hunk.unit === "lines" ? "its context and removed lines are" : "`old` is";
  const what = `is ambiguous: ${noun}${how} at ${places.length} places, ${listed(document, places)}`;
  const all = hunk.unit === "text" ? ", or set `all`" : "";
  return refusal("ambiguous-match", name, { what, next: `${nextStep(document, places, hunk)}${all}.` });
}

function listed(document: Document, places: readonly { readonly from: number }[]): string {
  const named = places.slice(0, placesNamed).map(({ from }) => {
    const around = enclosing(document.lines, from);
    return `line ${from + 1}${around === undefined ? "" : ` (in \`${around}\`)`}`;
  });
  return named.join(", ") + (places.length > placesNamed ? ", ..." : "");
}

/** The nearest line above with less indentation that looks like a definition. */
function enclosing(lines: readonly string[], from: number): string | undefined {
  let depth = depthOf(lines[from] ?? "");
  for (let at = from - 1; at >= 0 && depth > 0; at--) {
    const line = lines[at] ?? "";
    if (line.trim() === "" || depthOf(line) >= depth) continue;
    depth = depthOf(line);
    if (/[{:(]\s*$/.test(line) && /\w/.test(line)) return line.trim().slice(0, 60);
  }
  return undefined;
}

function depthOf(line: string): number {
  return /^\s*/.exec(line)?.[0].length ?? 0;
}

/** The line before, or else after, that differs for every place. */
function nextStep(document: Document, places: readonly { readonly from: number }[], hunk: Hunk): string {
  const { lines } = document;
  const height = wholeLines(hunk.old).length;
  if (places.every(({ from }) => from === places[0]?.from)) return "Add more of the same line to `old`";
  for (const [where, offset] of [
    ["before", -1],
    ["behind", height],
  ] as const) {
    const near = places.map(({ from }) => lines[from + offset]?.trim() ?? "");
    if (places.length > placesNamed || near.includes("") || new Set(near).size < near.length) continue;
    const shown = places.map(({ from }, i) => `\`${near[i]?.slice(0, 80)}\` for line ${from + 1}`);
    return `Add the line ${where} it to \`old\`: ${shown.join(", ")}`;
  }
  return "Add neighbouring lines to `old` until it is there once";
}
