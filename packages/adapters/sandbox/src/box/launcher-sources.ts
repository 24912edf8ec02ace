/** The launcher's sources, and a key that shows whether a program was built from them. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** A program's platform, in Node's terms. */
export interface Target {
  readonly platform: string;
  readonly arch: string;
}

export const ownSource: string = fileURLToPath(new URL("../../native/", import.meta.url));
export const compilerFlags: readonly string[] = ["-O2", "-s", "-std=gnu11"];

/** The program's file name for a target in the published package. */
export function shippedName({ platform, arch }: Target): string {
  return `lathe-box-${platform}-${arch}`;
}

export function sourceFiles(folder: string): readonly string[] {
  const names = readdirSync(folder).filter((name) => /\.[ch]$/u.test(name));
  return names.sort().map((name) => join(folder, name));
}

/** Changes with every byte of the sources, the compiler's flags and the target. */
export function sourcesKey(folder: string, { platform, arch }: Target): string {
  const hash = createHash("sha256").update(`${platform} ${arch} ${compilerFlags.join(" ")}`);
  for (const file of sourceFiles(folder))
    hash.update(`\0${file.slice(dirname(file).length)}\0`).update(readFileSync(file));
  return hash.digest("hex").slice(0, 24);
}
