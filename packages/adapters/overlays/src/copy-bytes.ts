/** Copy bytes: reads files of a folder or its copy, to compare them. */
import { isUtf8 } from "node:buffer";
import { readBounded } from "@lathe/system";

const maxBytes = 512 * 1024;

export interface CopySides {
  /** The folder, and the layer or tree that holds the copy's files. */
  readonly base: string;
  readonly upper: string;
}

/** Undefined for anything but a readable regular file of at most 512 KiB; `path` has one character per byte. */
function bytesAt(root: string, path: string): Buffer | undefined {
  const file = Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, "latin1")]);
  try {
    const read = readBounded(file, { maxBytes });
    return read && !read.isCut ? read.bytes : undefined;
  } catch {
    // It is gone or unreadable; the list of differences names it.
    return undefined;
  }
}

/** Undefined if it is not text, or too long. */
export function textAt(root: string, path: string): string | undefined {
  const bytes = bytesAt(root, path);
  return bytes && !bytes.includes(0) && isUtf8(bytes) ? bytes.toString() : undefined;
}

export function readSides({ base, upper }: CopySides) {
  return (side: "base" | "fork", path: string): Buffer | undefined =>
    bytesAt(side === "base" ? base : upper, path);
}
