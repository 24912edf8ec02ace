/** Project files: the paths of a folder, as far as git does not ignore them. */
import { isFailure } from "@lathe/protocol";
import { createSearch } from "@lathe/search";

/** Beyond that a list is of no use to a person who types. */
const most = 50_000;

/** From the folder, sorted; none where they cannot be listed. */
export async function projectFiles(cwd: string, signal: AbortSignal): Promise<readonly string[]> {
  const found = await createSearch({ root: cwd }).files({ limit: most }, signal);
  return isFailure(found) ? [] : found.paths;
}
