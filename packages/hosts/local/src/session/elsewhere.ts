/** Elsewhere: whether what a session did lies in another place than the one it is to go on in. */
import { existsSync } from "node:fs";
import { type Failure, failure, type Session } from "@lathe/protocol";
import type { Fork } from "../forks/forks.ts";
import type { LocalOptions } from "../local-options.ts";
import type { Said } from "./as-before.ts";

/** *Contract:* a folder that is gone, and a fork that was kept or dropped, is no other place. */
export async function elsewhere(
  session: Session,
  { cwd, env }: Pick<LocalOptions, "cwd" | "env">,
  { folder }: Said,
): Promise<Failure | undefined> {
  const { id, cwd: own } = session;
  if (own !== cwd && !folder && existsSync(own)) {
    const text = `session ${id} works in ${own}: go on with it there, or say --cwd to have it go on in ${cwd}`;
    return failure("invalid-arguments", text, { who: "user" });
  }
  const fork = await forkOfSession(session, env);
  if (!fork) return undefined;
  const ways = `\`lathe run --resume ${id}\` goes on in it, \`lathe fork keep ${fork.id}\` takes its changes over`;
  return failure("invalid-arguments", `session ${id} works in a fork of the folder, which waits: ${ways}`, {
    who: "user",
  });
}

/** The fork that a session is to go on in; undefined where it works in its folder, or this is that fork. */
export async function forkOfSession(
  { settings: { inFork } }: Session,
  env: LocalOptions["env"],
): Promise<Fork | undefined> {
  if (inFork === undefined || env.LATHE_FORK === inFork) return undefined;
  const { allForks } = await import("../forks/forks.ts");
  return allForks(env).find(({ id }) => id === inFork);
}
