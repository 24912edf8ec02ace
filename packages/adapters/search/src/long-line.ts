/** Whether a file has a line so long that ripgrep would take memory and minutes to print its matches. */
import { closeSync, createReadStream, fstatSync } from "node:fs";
import { openInside } from "@lathe/system/open-inside";

/** Bytes of the longest line that is searched. */
const maxLine = 4 * 1024 * 1024;
/** Bytes that are looked at: a tenth of a second's worth. */
const looked = 256 * 1024 * 1024;
const newline = 10;

/** Reads no more than it must; false for what cannot be read, and once the signal aborted. */
export async function hasLongLine(root: string, path: string, signal: AbortSignal): Promise<boolean> {
  let file: number | undefined;
  try {
    file = openInside(root, path);
    // Each file with a match is asked about while ripgrep finds the next: to wait for one takes ten times as long.
    if (fstatSync(file).size <= maxLine) return false;
    let length = 0;
    const stream = createReadStream("", { fd: file, highWaterMark: maxLine / 4, end: looked, signal });
    // The stream closes it, once no read of it is under way.
    file = undefined;
    for await (const chunk of stream) {
      const first = chunk.indexOf(newline);
      if (length + (first < 0 ? chunk.length : first) > maxLine) return true;
      length = first < 0 ? length + chunk.length : chunk.length - chunk.lastIndexOf(newline) - 1;
    }
    return false;
  } catch {
    // Ripgrep says itself what it could not read.
    return false;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
