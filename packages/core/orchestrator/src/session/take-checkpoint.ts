/** Take a checkpoint: saves the current files, or records why that failed. */
import { isFailure, type RunLaterFile, type Session } from "@lathe/protocol";
import type { Entry, PerformContext } from "../ports.ts";

/** Milliseconds before the person watching sees a status. */
const patienceMs = 300;

export async function* takeCheckpoint(
  moment: "before" | "after",
  session: Session,
  { ports, signal }: PerformContext,
): AsyncGenerator<Entry, void> {
  const { id } = session;
  const from = ports.clock.now();
  // A turn that a cancel ends still needs a checkpoint of what it did.
  const stop = signal.aborted ? new AbortController().signal : signal;
  const ended = new AbortController();
  void tellLater({ ports, ended: ended.signal });
  const taken = await ports.checkpoint(id, stop).finally(() => ended.abort("taken"));
  const ms = Math.max(0, ports.clock.now() - from);
  if (!isFailure(taken)) {
    const { ref, skippedCount: skipped } = taken;
    const runLater = moment === "after" ? await runLaterSince(session, ref, ports) : [];
    const data = { moment, ref, skipped, ms, ...(runLater.length > 0 && { runLater }) };
    return yield { drafts: [{ type: "checkpoint.taken", data }], durable: false };
  }
  // After a cancel, nothing will change the files that the checkpoint would protect.
  if (stop.aborted && moment === "before") return;
  const failure = stop.aborted ? ({ ...taken, retry: "same" } as const) : taken;
  yield { drafts: [{ type: "checkpoint.taken", data: { moment, failure, skipped: 0, ms } }], durable: false };
}

/** More files than a person would read are left out. */
const maxFiles = 100;

/** Covers the whole turn, without changes by other programs between its steps. */
async function runLaterSince(
  { checkpoints, turn }: Session,
  ref: string,
  ports: PerformContext["ports"],
): Promise<readonly RunLaterFile[]> {
  const known = turn?.runLater ?? [];
  const before = checkpoints.at(-1)?.ref;
  if (!ports.runLater || before === undefined || before === ref) return known;
  const { files, gone } = await ports.runLater(before, ref);
  const byPath = new Map(known.map((file) => [file.path, file]));
  for (const path of gone) byPath.delete(path);
  for (const file of files) byPath.set(file.path, file);
  return [...byPath.values()].slice(0, maxFiles);
}

async function tellLater({
  ports,
  ended,
}: Pick<PerformContext, "ports"> & { readonly ended: AbortSignal }): Promise<void> {
  await ports.clock.sleep(patienceMs, ended);
  if (!ended.aborted) ports.onDelta({ type: "status", text: "keeping the files as they are" });
}
