/** Finds the fork of the folder that a session works in. */
import type { Fork } from "@lathe/overlays/fork";
import type { Session } from "@lathe/protocol";
import type { Env } from "@lathe/system";
import { forksFolder } from "../places/state-folder.ts";

/** The fork that a session must continue in; undefined if it has none, or this process is in it. */
export async function forkOfSession({ settings: { inFork } }: Session, env: Env): Promise<Fork | undefined> {
  if (inFork === undefined || env.LATHE_FORK === inFork) return undefined;
  const { listForks } = await import("@lathe/overlays/fork");
  return listForks(forksFolder(env)).find(({ id }) => id === inFork);
}
