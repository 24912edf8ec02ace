/** Finds the kernel's version of Landlock. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** The first version that can keep a file from being truncated (Linux 6.2): older ones are not used. */
export const oldestLandlock = 3;

/** `binary` is the launcher's absolute path. *Contract:* never rejects; 0 if there is no Landlock. */
export async function landlockVersion(binary: string): Promise<number> {
  try {
    const { stdout } = await promisify(execFile)(binary, ["landlock"], { timeout: 5000, env: {} });
    return Number(stdout) || 0;
  } catch {
    return 0;
  }
}
