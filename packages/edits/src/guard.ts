/** What no edit may do, wherever it belongs. */
import type { Failure } from "@lathe/protocol";
import type { Document } from "./document/document.ts";
import { refusal } from "./failures.ts";
import type { Hunk } from "./hunk.ts";
import { isPlaceholder } from "./match/elision.ts";

export interface Guarded {
  readonly hunk: Hunk;
  readonly name: string;
  readonly path: string;
}

export function guard(document: Document, guarded: Guarded): Failure | undefined {
  const { hunk, name } = guarded;
  const isNothing = hunk.old.every((line) => line.trim() === "");
  if (isNothing && document.text !== "" && !(hunk.unit === "text" && document.text === hunk.old.join("\n"))) {
    const next = "Name the lines it belongs to; to replace the whole file, write it.";
    return refusal("invalid-arguments", name, {
      what: "has an empty `old`, and the file is not empty",
      next,
    });
  }
  if (!hunk.finalNewline && hunk.old.join("\n") === hunk.new.join("\n")) {
    return refusal("no-change", name, { what: "changes nothing: `old` is equal to `new`" });
  }
  return placeholder(document, guarded);
}

/** A line for left-out code in `new` that is neither in `old` nor in the file would replace the code by the line. */
function placeholder(document: Document, { hunk, name, path }: Guarded): Failure | undefined {
  const known = new Set(hunk.old.map((line) => line.trim()));
  const line = hunk.new.find((one) => isPlaceholder(one, path) && !known.has(one.trim()));
  if (line === undefined || document.lines.some((one) => one.trim() === line.trim())) return undefined;
  const what = `has a placeholder in \`new\` (\`${line.trim().slice(0, 60)}\`)`;
  const next = "Write the lines it stands for, or leave them out of both `old` and `new`.";
  return refusal("placeholder", name, { what, next });
}
