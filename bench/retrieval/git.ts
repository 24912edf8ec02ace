/** Runs git for the benchmark. */
import { execFileSync } from "node:child_process";

export function git(folder: string, ...args: readonly string[]): string {
  return execFileSync("git", ["-C", folder, ...args], { encoding: "utf8", maxBuffer: 1e9, stdio: "pipe" });
}
