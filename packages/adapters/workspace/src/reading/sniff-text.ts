/** Distinguishes text from binary content, like git. */
import { isUtf8 } from "node:buffer";

/** A NUL byte this early means binary. */
const sniffed = 8_000;

export type TextKind = "utf-8" | "binary" | "other-encoding";

export function sniffText(bytes: Buffer): TextKind {
  if (bytes.subarray(0, sniffed).includes(0)) return "binary";
  return isUtf8(bytes) ? "utf-8" : "other-encoding";
}
