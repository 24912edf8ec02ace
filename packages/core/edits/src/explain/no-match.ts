/** The error for an edit that matches nowhere: the nearest current lines, and how they differ. */
import type { Failure } from "@lathe/protocol";
import type { Document } from "../document/document.ts";
import { refusal } from "../failures.ts";
import type { Hunk } from "../hunk.ts";
import { findBlock } from "../match/find-block.ts";
import { unifiedDiff } from "../unified-diff.ts";
import { nearCandidate } from "./near-candidate.ts";

/** Maximum lines of the shown difference. */
const diffLines = 16;
const lineChars = 200;

export function noMatch(document: Document, hunk: Hunk, name: string): Failure {
  const done = alreadyThere(document, hunk);
  if (done !== undefined) {
    const what = `is already applied: \`new\` is in the file at line ${done}, \`old\` is not`;
    return refusal("already-applied", name, { what });
  }
  const near = nearCandidate(document.text, hunk.old.join("\n"));
  const what = `does not match: ${hunk.unit === "lines" ? "its context and removed lines are" : "`old` is"} not in the file`;
  if (!near)
    return refusal("no-match", name, { what, next: "No lines of the file are like it: read it again." });
  const how = near.onlyWhitespace ? "differ only in whitespace" : "are nearest";
  const next = `These current lines ${how} (line number, tab, text):\n${near.text}${difference(document, near, hunk)}`;
  return refusal("no-match", name, { what, next });
}

/** 1-based line at which `new` already is, if it is long enough to be sure. */
function alreadyThere(document: Document, hunk: Hunk): number | undefined {
  const fresh = hunk.new.filter((line) => line.trim() !== "");
  const known = new Set(hunk.old.map((line) => line.trim()));
  // Text that is in `old` too proves nothing.
  const own = fresh
    .filter((line) => !known.has(line.trim()))
    .join("")
    .trim();
  if (own.length < 8) return undefined;
  const [only, second] = findBlock(document, fresh, "blank-lines");
  if (only) return second ? undefined : only.from + 1;
  const at = hunk.unit === "text" ? document.text.indexOf(hunk.new.join("\n")) : -1;
  return at < 0 ? undefined : document.lineAt(at);
}

function difference(
  document: Document,
  near: { readonly line: number; readonly count: number },
  hunk: Hunk,
): string {
  const current = document.lines.slice(near.line - 1, near.line - 1 + near.count);
  const diff = unifiedDiff(`${hunk.old.join("\n")}\n`, `${current.join("\n")}\n`, "x").split("\n");
  const body = diff.slice(3).filter((line) => !line.startsWith(" ") && line !== "");
  if (body.length === 0 || body.length > diffLines) return "";
  return `\nFrom what you wrote (-) to the file (+):\n${body.map((line) => line.slice(0, lineChars)).join("\n")}`;
}
