/** The launcher, compiled once for all tests that need a separate cache folder. */
import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import { nativeBinary } from "./native-binary.ts";

/** Copies it to a cache folder; does nothing if the tests share no folder, or it cannot be compiled. */
export async function giveLauncher(cacheFolder: string): Promise<void> {
  const shared = process.env.LATHE_TEST_CACHE;
  if (shared === undefined) return;
  const found = await nativeBinary({ cacheFolder: shared, path: process.env.PATH ?? "" });
  if (!("binary" in found)) return;
  const own = join(cacheFolder, basename(found.binary));
  if (existsSync(own)) return;
  mkdirSync(cacheFolder, { recursive: true, mode: 0o700 });
  copyFileSync(found.binary, own);
}
