/** Which version of Landlock the kernel has. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** The first that keeps a file from being emptied (Linux 6.2): older ones are not used. */
export const oldestLandlock = 3;

/** `binary`: the launcher's absolute path. *Contract:* never rejects; 0 where there is none. */
export async function landlockVersion(binary: string): Promise<number> {
  try {
    const { stdout } = await promisify(execFile)(binary, ["landlock"], { timeout: 5000, env: {} });
    return Number(stdout) || 0;
  } catch {
    return 0;
  }
}
