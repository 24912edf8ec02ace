/** `lathe sessions export`: what a session holds, for other programs. */
import { once } from "node:events";
import { findSession } from "@lathe/hosts/local";
import { sessionEdits } from "@lathe/hosts/session-edits";
import { type Failure, isFailure } from "@lathe/protocol";
import { usage } from "../run-options.ts";
import { problemLine } from "../show-failure.ts";

export async function exportCommand(start: string, format: string | undefined): Promise<number | Failure> {
  if (format !== "edits" && format !== "atif")
    return usage("--format is edits or atif: lathe sessions export ID --format edits");
  const id = await findSession(process.env, start);
  if (isFailure(id)) return id;
  if (format === "atif") {
    const { sessionTrajectory } = await import("@lathe/hosts/session-trajectory");
    const trajectory = await sessionTrajectory(process.env, id);
    if (isFailure(trajectory)) return trajectory;
    process.stdout.write(`${JSON.stringify(trajectory)}\n`);
    return 0;
  }
  const found = await sessionEdits(process.env, id);
  if (isFailure(found)) return found;
  for (const edit of found.edits) {
    if (!process.stdout.write(`${JSON.stringify(edit)}\n`)) await once(process.stdout, "drain");
  }
  if (found.lost > 0) {
    const edits = found.lost === 1 ? "1 edit is" : `${found.lost} edits are`;
    process.stderr.write(problemLine(`${edits} left out: the texts are not stored any more`));
  }
  return 0;
}
