/** Find reading: what a path means for a tool that reads, in the workspace or outside of it. */
import { type Failure, isFailure } from "./failure.ts";
import type { Place, Sandbox } from "./ports/sandbox.ts";
import type { Workspace } from "./ports/workspace.ts";

export interface Reading {
  /** From the workspace; outside of it the real absolute one. */
  readonly path: string;
  /** Of what the workspace does not know by the name it was asked by. */
  readonly place?: Place;
  readonly isOutside: boolean;
}

/** A name that commands have comes before one that only the machine has: of both commands mean theirs. */
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
  // Models make up where the workspace lies.
  if (isFailure(place)) return { ...place, text: `${place.text} The workspace is ${root}.` };
  const path = await workspace.resolve(place.path);
  return isFailure(path) ? { path: place.path, place, isOutside: true } : { path, place, isOutside: false };
}
