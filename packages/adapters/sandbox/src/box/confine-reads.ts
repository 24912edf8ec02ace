/** Confine reads: starts a program of ours that reads what others write, so that it can read below some paths alone. */
import { landlockVersion, oldestLandlock } from "./landlock-version.ts";
import { nativeBinary } from "./native-binary.ts";

/** The words that start a program which reads at and below these real paths, and does nothing else to files. */
export type ConfineReads = (paths: readonly string[], program: string) => readonly string[];

/**
 * The launcher is not compiled for this: until a command has run in the sandbox, nothing changes a tree under a search.
 * *Contract:* never rejects; undefined while there is no launcher, `unsupported` where the system cannot confine reads.
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
