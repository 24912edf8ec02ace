/** Finds the fork of the folder that a session works in. */
import type { Session } from "@lathe/protocol";
import type { LocalOptions } from "../local-options.ts";
import type { Fork } from "./forks.ts";

/** The fork that a session is to continue in; undefined where it works in its folder, or this is that fork. */
export async function forkOfSession(
  { settings: { inFork } }: Session,
  env: LocalOptions["env"],
): Promise<Fork | undefined> {
  if (inFork === undefined || env.LATHE_FORK === inFork) return undefined;
  const { allForks } = await import("./forks.ts");
  return allForks(env).find(({ id }) => id === inFork);
}
