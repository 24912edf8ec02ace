/** Deleting a session: its log, those of its subagents and attempts, and all that was kept for them alone. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { causeText, type Failure, failure, isFailure, type SessionLog, type Store } from "@lathe/protocol";
import { forgetSessions, hashesIn, processOwner } from "@lathe/stores";
import { dropCheckpoints } from "@lathe/workspace/checkpoints";
import { attemptTrees } from "../attempt-trees/attempt-tree.ts";
import { explained } from "../explained.ts";
import { allForks } from "../forks/forks.ts";
import { systemClock } from "../machine/system-clock.ts";
import { hostProgramPath } from "../places/host-programs.ts";
import { type Env, stateFolder } from "../places/state-folder.ts";
import { blobFolders, openState } from "./state.ts";

/**
 * *Contract:* the ids of what is gone, its own first. `session-owned`, and nothing is gone, while a process has one of
 * them; `invalid-arguments` while copies of the folder wait for a decision. Forks of it stay, with all that they need.
 */
export async function deleteSession(env: Env, id: string): Promise<readonly string[] | Failure> {
  const { store } = openState(env);
  const ids = await withDescendants(store, id);
  const waits = [...allForks(env), ...attemptTrees(env)].find(
    ({ session }) => session !== undefined && ids.includes(session),
  );
  if (waits) {
    const text = `changes of session ${id} wait in ${waits.id}: \`lathe fork keep ${waits.id}\` or \`lathe fork drop ${waits.id}\` first`;
    return failure("invalid-arguments", text, { who: "user" });
  }
  const logs = await claimAll(store, ids);
  if (isFailure(logs)) return explained(logs, env);
  const refused = (await forget(env, ids, logs)) ?? (await removeAll(logs));
  if (!refused) return ids;
  await Promise.all(logs.map((one) => one.close()));
  return explained(refused, env);
}

/** While the logs are still there: what fails or dies in the middle can be begun again. */
async function forget(
  env: Env,
  ids: readonly string[],
  logs: readonly SessionLog[],
): Promise<Failure | undefined> {
  const folder = stateFolder(env);
  const hashes = new Set(logs.flatMap(({ events }) => hashesIn(JSON.stringify(events))));
  try {
    for (const one of ids) rmSync(join(folder, "plans", `${one}.md`), { force: true });
    forgetSessions({ folder, sessions: ids, hashes, blobs: blobFolders });
  } catch (cause) {
    const text = `not all that was kept for ${ids[0]} could be removed: ${causeText(cause)}; delete it once more`;
    return failure("no-access", text, { who: "host", cause });
  }
  return dropCheckpoints({ folder: join(folder, "checkpoints"), path: hostProgramPath(env) }, ids);
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
async function claimAll(store: Store, ids: readonly string[]): Promise<readonly SessionLog[] | Failure> {
  const logs: SessionLog[] = [];
  for (const id of ids) {
    const log = await store.claim(id, { owner: processOwner(), at: systemClock.now() });
    if (isFailure(log)) {
      await Promise.all(logs.map((one) => one.close()));
      return log;
    }
    logs.push(log);
  }
  return logs;
}
