/** Root file: one at the root of the workspace that Lathe obeys; it must really lie there. */
import { closeSync, realpathSync } from "node:fs";
import { join, relative } from "node:path";
import { type Failure, failure } from "@lathe/protocol";
import { isInside } from "@lathe/system";
import { openInside } from "@lathe/system/open-inside";
import { type FileStart, notRead, readStart } from "./regular-file.ts";

/**
 * Undefined when there is none; a failure when it leads out of the workspace, is no file, or cannot be read. Its links are
 * followed first; a folder that is swapped for another link since then is not.
 */
export function readRootFile(cwd: string, name: string, limit: number): FileStart | Failure | undefined {
  const path = join(cwd, name);
  try {
    const [root, real] = [realpathSync(cwd), realpathSync(path)];
    if (!isInside(root, real))
      return failure("outside-workspace", `${path} leads out of the workspace`, { who: "user" });
    const file = openInside(root, relative(root, real));
    try {
      return readStart(file, path, limit);
    } finally {
      closeSync(file);
    }
  } catch (cause) {
    return notRead(path, cause);
  }
}
