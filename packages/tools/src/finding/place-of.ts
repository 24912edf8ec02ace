/** Where a tool that reads looks: in the workspace, or outside of it where commands may, or somebody lets this session. */
import {
  coversGrant,
  type Files,
  type FilesQuery,
  isFailure,
  type Outcome,
  type ToolContext,
} from "@lathe/protocol";
import { failed, ok } from "../define-tool.ts";

export interface Looked {
  /** From the workspace; outside of it the real absolute one. */
  readonly path: string;
  /** What `path` is read with. */
  readonly files: Files;
  readonly isOutside: boolean;
}

/** Else the outcome: what was not granted yet is asked for by it. */
export async function placeOf(asked: string, context: ToolContext): Promise<Looked | Outcome> {
  const { workspace, sandbox, grants } = context;
  const path = await workspace.resolve(asked);
  if (!isFailure(path)) return { path, files: workspace, isOutside: false };
  if (path.code !== "outside-workspace") return failed(path);
  const place = await sandbox.find(asked);
  // Models make up where the workspace lies.
  if (isFailure(place))
    return failed({ ...place, text: `${place.text} The workspace is ${workspace.root}.` });
  const wanted = { kind: "read", target: place.path } as const;
  if (place.needs && !grants.some((grant) => coversGrant(grant, wanted)))
    return ok(path.text, { denied: [place.needs] });
  return { path: place.path, files: workspace.outside, isOutside: true };
}

export function isOutcome(found: Looked | Outcome): found is Outcome {
  return "type" in found;
}

/** The same for a search. */
export function whereOf(
  { path, isOutside }: Looked,
  { unreadable }: ToolContext,
): Pick<FilesQuery, "path" | "isOutside" | "exclude"> {
  return { path, exclude: unreadable(path), ...(isOutside && { isOutside }) };
}
