/** What the user fetched of models, kept until the next time: read when a model is asked for, replaced as a whole. */
import { readFileSync } from "node:fs";
import type { ModelInfo } from "@lathe/protocol";
import { writeWhole } from "@lathe/system";

export interface RefreshedModels {
  /** Where it came from. */
  readonly url: string;
  /** In milliseconds since the epoch. */
  readonly at: number;
  readonly entries: readonly ModelInfo[];
}

const version = 1;

/** Undefined when nothing was fetched, or by a Lathe that wrote it in another way. */
export function readRefreshed(file: string): RefreshedModels | undefined {
  try {
    const kept = JSON.parse(readFileSync(file, "utf8"));
    return kept.v === version && Array.isArray(kept.entries) ? kept : undefined;
  } catch {
    return undefined;
  }
}

/** *Contract:* throws what the file system throws; what was there before is then still there. */
export function writeRefreshed(file: string, refreshed: RefreshedModels): void {
  writeWhole(file, JSON.stringify({ v: version, ...refreshed }));
}
