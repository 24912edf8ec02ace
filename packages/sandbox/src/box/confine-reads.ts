/** Confine reads: starts a program of ours that reads what others write, so that it can read below some paths alone. */
import { landlockVersion, oldestLandlock } from "./landlock-version.ts";
import { type BinaryOptions, nativeBinary } from "./native-binary.ts";

/** The words that start a program which reads at and below these real paths, and does nothing else to files. */
export type ConfineReads = (paths: readonly string[], program: string) => readonly string[];

/** *Contract:* never rejects; undefined where the kernel has no Landlock or there is no launcher. */
export async function openConfineReads(options: BinaryOptions): Promise<ConfineReads | undefined> {
  if (process.platform !== "linux") return undefined;
  const found = await nativeBinary(options);
  if (!("binary" in found) || (await landlockVersion(found.binary)) < oldestLandlock) return undefined;
  const { binary } = found;
  return (paths, program) => [binary, "read", ...paths, "--", program];
}
