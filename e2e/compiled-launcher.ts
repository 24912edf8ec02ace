/** Compiles the launcher once for all tests: every test place has a new home and would compile its own. */
import { copyFileSync, mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { nativeBinary } from "@lathe/sandbox";

const cacheFolder = fileURLToPath(new URL("../node_modules/.cache/lathe-tests/launcher", import.meta.url));
const found = await nativeBinary({ cacheFolder, path: process.env.PATH ?? "" });

/** Puts the launcher into the home's cache. If it cannot be compiled, does nothing. */
export function giveLauncher(home: string): void {
  if (!("binary" in found)) return;
  const folder = join(home, ".cache", "lathe");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  copyFileSync(found.binary, join(folder, basename(found.binary)));
}
