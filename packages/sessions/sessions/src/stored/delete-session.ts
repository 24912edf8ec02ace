/** Deleting a session: its log, those of its subagents and attempts, and all that was kept for them alone. */
import { type Failure, failure, isFailure, type SessionLog, type Store } from "@lathe/protocol";
import type { SessionArchive } from "../host/session-archive.ts";

/**
 * *Contract:* the ids of what is gone, its own first. `session-owned`, and nothing is gone, while a process has one of
 * them; `invalid-arguments` while copies of the folder wait for a decision. Forks of it stay, with all that they need.
 */
export async function deleteSession(
  archive: SessionArchive,
  id: string,
): Promise<readonly string[] | Failure> {
  const ids = await withDescendants(archive.stores.store, id);
  const waits = (await archive.waitingCopies()).find(
    ({ session }) => session !== undefined && ids.includes(session),
  );
  if (waits) {
    const text = `changes of session ${id} wait in ${waits.id}: \`lathe fork keep ${waits.id}\` or \`lathe fork drop ${waits.id}\` first`;
    return failure("invalid-arguments", text, { who: "user" });
  }
  const logs = await claimAll(archive, ids);
  if (isFailure(logs)) return archive.withHint(logs);
  // While the logs are still there: a deletion that fails or dies in the middle can be begun again.
  const refused = (await archive.forget(ids, logs)) ?? (await removeAll(logs));
  if (!refused) return ids;
  await Promise.all(logs.map((one) => one.close()));
  return archive.withHint(refused);
}

/** Its own last: the others are found by it. */
async function removeAll(logs: readonly SessionLog[]): Promise<Failure | undefined> {
  for (const log of logs.toReversed()) {
    const refused = await log.remove();
    if (refused) return refused;
  }
  return undefined;
}

/** Subagents and attempts, and theirs. */
async function withDescendants(store: Store, id: string): Promise<readonly string[]> {
  const made = (await store.list({})).filter(({ agent }) => agent !== undefined);
  const ids = [id];
  for (const above of ids) ids.push(...made.flatMap((one) => (one.parent === above ? [one.id] : [])));
  return ids;
}

/** All or none. */
async function claimAll(
  { stores, clock, owner }: SessionArchive,
  ids: readonly string[],
): Promise<readonly SessionLog[] | Failure> {
  const logs: SessionLog[] = [];
  for (const id of ids) {
    const log = await stores.store.claim(id, { owner: owner(), at: clock.now() });
    if (isFailure(log)) {
      await Promise.all(logs.map((one) => one.close()));
      return log;
    }
    logs.push(log);
  }
  return logs;
}
