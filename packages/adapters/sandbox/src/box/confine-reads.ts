/**
 * Confine reads: starts one of Lathe's programs that reads foreign files, so that it can read only some
 * paths.
 */
import { landlockVersion, oldestLandlock } from "./landlock-version.ts";
import { nativeBinary } from "./native-binary.ts";

/** The words that start a program which can only read, and only at and below these real paths. */
export type ConfineReads = (paths: readonly string[], program: string) => readonly string[];

/**
 * Does not compile the launcher: until a command has run in the sandbox, nothing changes a tree during a
 * search.
 * *Contract:* never rejects; undefined if there is no launcher, `unsupported` if the system cannot confine
 * reads.
 */
export async function openConfineReads(
  cacheFolder: string,
): Promise<ConfineReads | "unsupported" | undefined> {
  if (process.platform !== "linux") return "unsupported";
  const found = await nativeBinary({ cacheFolder, path: "", mayCompile: false });
  if (!("binary" in found)) return undefined;
  const { binary } = found;
  if ((await landlockVersion(binary)) < oldestLandlock) return "unsupported";
  return (paths, program) => [binary, "read", ...paths, "--", program];
}
