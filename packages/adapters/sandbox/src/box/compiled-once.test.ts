/** The launcher, compiled once for all tests that want a cache folder of their own. */
import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import { nativeBinary } from "./native-binary.ts";

/** Puts it into a cache folder; nothing where the tests share no folder, or it cannot be compiled. */
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
