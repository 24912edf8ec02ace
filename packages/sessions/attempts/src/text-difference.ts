/** Text differences: the change of a file's text, as a unified diff. */
import { isUtf8 } from "node:buffer";
import { unifiedDiff } from "@lathe/edits";
import type { ComparedCopy, CopyDifference } from "@lathe/protocol";

/** Undefined without text to compare: for folders, links, binary and long files. */
export function textDifference(
  { bytesOf }: Pick<ComparedCopy, "bytesOf">,
  { path, what, ...sides }: CopyDifference,
): string | undefined {
  if (what === "mode") return undefined;
  const textOf = (side: "base" | "fork"): string | null | undefined => {
    const { kind } = sides[side];
    if (kind === "absent") return null;
    return kind === "file" ? textIn(bytesOf(side, path)) : undefined;
  };
  const [before, after] = [textOf("base"), textOf("fork")];
  if (before === undefined || after === undefined) return undefined;
  return unifiedDiff(before ?? undefined, after ?? undefined, Buffer.from(path, "latin1").toString());
}

function textIn(bytes: Uint8Array | undefined): string | undefined {
  if (!bytes || bytes.includes(0) || !isUtf8(bytes)) return undefined;
  return Buffer.from(bytes).toString();
}
