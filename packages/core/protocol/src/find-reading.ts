/** Find reading: resolves a path for a tool that reads, in the workspace or outside of it. */
import { type Failure, isFailure } from "./failure.ts";
import type { Place, Sandbox } from "./ports/sandbox.ts";
import type { Workspace } from "./ports/workspace.ts";

export interface Reading {
  /** Relative to the workspace; outside of it the real absolute path. */
  readonly path: string;
  /** Set if the workspace does not know the path under the requested name. */
  readonly place?: Place;
  readonly isOutside: boolean;
}

/**
 * A name that commands see wins over one on the machine: if both exist, it means the file that commands see.
 */
export async function findReading(
  asked: string,
  { workspace, sandbox }: { readonly workspace: Workspace; readonly sandbox: Pick<Sandbox, "find"> },
): Promise<Reading | Failure> {
  const { root } = workspace;
  if (!asked.startsWith("/") || asked === root || asked.startsWith(`${root}/`)) {
    const path = await workspace.resolve(asked);
    if (!isFailure(path)) return { path, isOutside: false };
    if (path.code !== "outside-workspace") return path;
  }
  const place = await sandbox.find(asked);
  // Models sometimes invent the path of the workspace, so the error names it.
  if (isFailure(place)) return { ...place, text: `${place.text} The workspace is ${root}.` };
  const path = await workspace.resolve(place.path);
  return isFailure(path) ? { path: place.path, place, isOutside: true } : { path, place, isOutside: false };
}
