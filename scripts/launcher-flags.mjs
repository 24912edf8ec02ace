/**
 * The Node flags of the command, read from its launcher, so that measurements and caches use the same flags.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const launcher = fileURLToPath(new URL("../apps/cli/bin/lathe.mjs", import.meta.url));

export function launcherFlags() {
  const named = /^flags='(.*)'$/m.exec(readFileSync(launcher, "utf8"))?.[1];
  if (named === undefined) throw new Error(`${launcher} names no flags`);
  return named.split(" ");
}
