/** The launcher, compiled once for all tests: each place's home is a new one, and would compile its own. */
import { copyFileSync, mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { nativeBinary } from "@lathe/sandbox";

const cacheFolder = fileURLToPath(new URL("../node_modules/.cache/lathe-tests/launcher", import.meta.url));
const found = await nativeBinary({ cacheFolder, path: process.env.PATH ?? "" });

/** Puts it where a command with this home looks for it. Where it could not be compiled, nor can it be there. */
export function giveLauncher(home: string): void {
  if (!("binary" in found)) return;
  const folder = join(home, ".cache", "lathe");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  copyFileSync(found.binary, join(folder, basename(found.binary)));
}
