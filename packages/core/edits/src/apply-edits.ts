/** The entry points of the engine: one text and one edit in, a new text or a failure out. */
import { type Failure, isFailure } from "@lathe/protocol";
import { type Applied, applyHunks } from "./apply-hunks.ts";
import { type PatchDialect, parsePatch } from "./dialects/parse-patch.ts";
import type { PatchFile } from "./dialects/patch-file.ts";
import { type Replacement, replacementHunk } from "./dialects/replacements.ts";
import { refusal } from "./failures.ts";
import type { Hunk } from "./hunk.ts";

/** One file; the extension of its path decides which lines may be placeholders. */
export interface EditedFile {
  readonly path: string;
  readonly text: string;
  /** The version the model last saw, if it differs. */
  readonly shown?: string;
}

/** Untouched lines keep their bytes, including line endings. */
export function applyReplacements(file: EditedFile, replacements: readonly Replacement[]): Applied | Failure {
  if (replacements.length === 0) return refusal("invalid-arguments", "The call", { what: "has no edits" });
  return applyHunks({ ...file, list: "edits" }, replacements.map(replacementHunk));
}

/**
 * A patch for one file: adding needs an empty text, deleting leaves one, and a move changes only the text.
 */
export function applyPatch(
  edited: EditedFile,
  { patch, dialect }: { readonly patch: string; readonly dialect: PatchDialect },
): Applied | Failure {
  const { path, text } = edited;
  const files = parsePatch({ patch, dialect, path });
  if (isFailure(files)) return files;
  const mine = files.filter((file) => isSamePath(file.path, path));
  const [file] = mine;
  if (!file || mine.length < files.length) {
    const others = files.filter((one) => !mine.includes(one)).map((one) => one.path);
    return refusal("invalid-patch", "The patch", {
      what: `is for ${others.join(", ")}, not only for ${path}`,
    });
  }
  const hunks = mine.flatMap((one) => (one.type === "update" ? one.hunks : []));
  return hunks.length > 0 ? applyPatchHunks(edited, hunks) : wholeFile(file, text);
}

/** The hunks of a parsed patch. */
export function applyPatchHunks(file: EditedFile, hunks: readonly Hunk[]): Applied | Failure {
  return applyHunks({ ...file, list: "hunks" }, hunks);
}

function wholeFile(file: PatchFile, text: string): Applied | Failure {
  if (file.type === "add" && text !== "") {
    return refusal("already-exists", "The patch", { what: `adds ${file.path}, which exists already` });
  }
  const fresh = file.type === "add" ? file.text : file.type === "delete" ? "" : text;
  return { text: fresh, tier: "exact", ranges: [], warnings: [] };
}

function isSamePath(a: string, b: string): boolean {
  const [x, y] = [a, b].map((path) => path.replace(/^(?:\.\/|\/)+/, ""));
  return x === y || x === `a/${y}` || x === `b/${y}`;
}
