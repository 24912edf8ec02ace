/** Take a checkpoint: the files as they are now, or why they cannot be kept. */
import { isFailure, type Session } from "@lathe/protocol";
import type { Entry, Reach } from "../ports.ts";

/** Milliseconds it may take before somebody who watches is told. */
const patienceMs = 300;

export async function* takeCheckpoint(
  moment: "before" | "after",
  { id }: Session,
  { ports, signal }: Reach,
): AsyncGenerator<Entry, void> {
  const from = ports.clock.now();
  // The turn that a cancel ends still leaves behind what it did.
  const stop = signal.aborted ? new AbortController().signal : signal;
  const ended = new AbortController();
  void tellLater({ ports, ended: ended.signal });
  const taken = await ports.checkpoint(id, stop).finally(() => ended.abort());
  const ms = Math.max(0, ports.clock.now() - from);
  if (!isFailure(taken)) {
    const { ref, skippedCount: skipped } = taken;
    return yield {
      drafts: [{ type: "checkpoint.taken", data: { moment, ref, skipped, ms } }],
      durable: false,
    };
  }
  // Nothing will change the files that it was for.
  if (stop.aborted && moment === "before") return;
  const failure = stop.aborted ? ({ ...taken, retry: "same" } as const) : taken;
  yield { drafts: [{ type: "checkpoint.taken", data: { moment, failure, skipped: 0, ms } }], durable: false };
}

async function tellLater({
  ports,
  ended,
}: Pick<Reach, "ports"> & { readonly ended: AbortSignal }): Promise<void> {
  await ports.clock.sleep(patienceMs, ended);
  if (!ended.aborted) ports.onDelta({ type: "status", text: "keeping the files as they are" });
}
