/** The target of an effect for a path as the model wrote it. */
import { posix } from "node:path";

/**
 * Removes `.`, `//`, `a/..` and a final slash; absolute paths stay absolute: policy resolves the real ones.
 */
export function targetOf(path: string | undefined): string {
  const target = posix.normalize(path || ".");
  return target.length > 1 && target.endsWith("/") ? target.slice(0, -1) : target;
}
