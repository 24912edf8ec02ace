/** Real or: where a path really lies, or the path as it is where nothing is yet. */
import { realpathSync } from "node:fs";

export function realOr(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
