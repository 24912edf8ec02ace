/** Names a session: in its log while no process has it open, else through its inbox. */
import { type Failure, failure, isFailure } from "@lathe/protocol";
import type { SessionArchive } from "../host/session-archive.ts";

const longestName = 120;

/** *Contract:* `name` is one line; a running session applies it within a moment. */
export async function nameSession(
  archive: SessionArchive,
  id: string,
  name: string,
): Promise<Failure | undefined> {
  const line = name.replace(/\s+/g, " ").trim();
  if (line === "" || line.length > longestName) {
    const text = `a name is one line of 1 to ${longestName} characters`;
    return failure("invalid-arguments", text, { who: "user" });
  }
  const { store, inbox } = archive.stores;
  const at = archive.clock.now();
  const log = await store.claim(id, { owner: archive.owner(), at });
  if (isFailure(log) && log.code === "session-owned") return inbox.offer(id, { type: "name", name: line });
  if (isFailure(log)) return archive.withHint(log);
  try {
    const named = await log.append([{ type: "session.named", data: { name: line } }], { at, durable: true });
    return isFailure(named) ? archive.withHint(named) : undefined;
  } finally {
    await log.close();
  }
}
