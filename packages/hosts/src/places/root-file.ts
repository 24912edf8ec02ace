/** Root file: one at the root of the workspace that Lathe obeys; it must really lie there. */
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { type Failure, failure } from "@lathe/protocol";
import { isInside } from "./inside.ts";
import { type FileStart, readRegularFile } from "./regular-file.ts";

/** Undefined when there is none; a failure when it leads out of the workspace, is no file, or cannot be read. */
export function readRootFile(cwd: string, name: string, limit: number): FileStart | Failure | undefined {
  const path = join(cwd, name);
  try {
    const real = realpathSync(path);
    if (!isInside(realpathSync(cwd), real))
      return failure("outside-workspace", `${path} leads out of the workspace`, { who: "user" });
    return readRegularFile(real, limit);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    return failure("no-access", `${path} cannot be read (${code})`, { cause });
  }
}
