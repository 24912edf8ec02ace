/** What the times of a file tell, and when they tell nothing. */
import type { Stats } from "node:fs";

/** Whether a change after the reading may leave the times as they are. */
export function isRacy({ ctimeMs }: Stats, readAt: number): boolean {
  // Times go in steps: of a clock tick, of a second on old file systems, of two on FAT.
  const step = ctimeMs % 1000 === 0 ? 2_100 : 50;
  return ctimeMs >= readAt - step;
}
