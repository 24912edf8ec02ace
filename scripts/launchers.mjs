/**
 * Builds the sandbox's launcher for the published package: static Linux programs, one for each architecture
 * with a compiler. Without one, the launcher is compiled on the user's machine, as from a clone.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  compilerFlags,
  shippedName,
  sourceFiles,
  sourcesKey,
} from "../packages/adapters/sandbox/src/box/launcher-sources.ts";

const crossCompilers = { x64: "x86_64-linux-gnu-gcc", arm64: "aarch64-linux-gnu-gcc" };
const machine = `${process.platform}-${process.arch}`;

/**
 * Builds into the folder of the sources. Returns a line per architecture: the result, or why there is none.
 */
export function buildLaunchers(folder) {
  return Object.entries(crossCompilers).map(([arch, cross]) => {
    const target = { platform: "linux", arch };
    const name = shippedName(target);
    const compiler = machine === `linux-${arch}` ? "cc" : cross;
    const sources = sourceFiles(folder).filter((file) => file.endsWith(".c"));
    const binary = join(folder, name);
    const built = spawnSync(compiler, [...compilerFlags, "-static", ...sources, "-o", binary], {
      encoding: "utf8",
    });
    if (built.error) return `${name}: not built, there is no ${compiler}`;
    if (built.status !== 0) throw new Error(`${compiler} could not build ${name}:\n${built.stderr}`);
    chmodSync(binary, 0o755);
    const sha256 = createHash("sha256").update(readFileSync(binary)).digest("hex");
    writeFileSync(`${binary}.json`, `${JSON.stringify({ sources: sourcesKey(folder, target), sha256 })}\n`);
    return `${name}: built with ${compiler}`;
  });
}
