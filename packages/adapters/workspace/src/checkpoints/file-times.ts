/** When a file's times prove that it is unchanged. */
import type { Stats } from "node:fs";

/** Whether a change after the read may leave the same times. */
export function isRacy({ ctimeMs }: Stats, readAt: number): boolean {
  // Times advance in steps: a clock tick, a second on old file systems, two on FAT.
  const step = ctimeMs % 1000 === 0 ? 2_100 : 50;
  return ctimeMs >= readAt - step;
}
