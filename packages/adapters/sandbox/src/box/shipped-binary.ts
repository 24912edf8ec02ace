/** A launcher built for the published package: used only if it was built from the sources beside it. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isTrusted } from "../paths/trusted-path.ts";
import { shippedName } from "./launcher-sources.ts";

/** The record that `scripts/launchers.mjs` writes beside each program. */
export interface ShippedRecord {
  /** The key of its sources. */
  readonly sources: string;
  /** The digest of the program. */
  readonly sha256: string;
}

/** *Contract:* never throws; undefined if there is none, or if a digest differs. */
export function shippedBinary(folder: string, key: string): string | undefined {
  const binary = join(folder, shippedName(process));
  if (!isTrusted(binary)) return undefined;
  try {
    const { sources, sha256 } = JSON.parse(readFileSync(`${binary}.json`, "utf8")) as ShippedRecord;
    if (sources !== key) return undefined;
    return sha256 === createHash("sha256").update(readFileSync(binary)).digest("hex") ? binary : undefined;
  } catch {
    return undefined;
  }
}
