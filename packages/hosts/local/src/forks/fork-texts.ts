/** What differs in the texts of a fork's files. */
import { isUtf8 } from "node:buffer";
import { unifiedDiff } from "@lathe/edits";
import type { Difference } from "@lathe/overlays";
import type { Fork } from "@lathe/overlays/fork";
import { readBounded } from "@lathe/system";

/** Of one file; what is longer is not shown. */
const maxBytes = 512 * 1024;

/** A unified diff; undefined where there is none to be shown: a folder, a link, binary, too long. */
export function textDifference(
  fork: Pick<Fork, "base" | "upper">,
  { path, what, ...sides }: Difference,
): string | undefined {
  if (what === "mode") return undefined;
  const texts = (
    [
      ["base", fork.base],
      ["fork", fork.upper],
    ] as const
  ).map(([side, root]) => {
    const { kind } = sides[side];
    return kind === "absent" ? null : kind === "file" ? textAt(root, path) : undefined;
  });
  const [before, after] = texts;
  if (before === undefined || after === undefined) return undefined;
  return unifiedDiff(before ?? undefined, after ?? undefined, Buffer.from(path, "latin1").toString());
}

/** Undefined for what is no text, or too long; `path` with one character per byte. */
export function textAt(root: string, path: string): string | undefined {
  const file = Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, "latin1")]);
  try {
    const read = readBounded(file, { maxBytes: maxBytes });
    if (!read || read.isCut) return undefined;
    const { bytes } = read;
    return bytes.includes(0) || !isUtf8(bytes) ? undefined : bytes.toString();
  } catch {
    // Gone or closed to us: the list names it.
    return undefined;
  }
}
