/** Attempts use: whether the attempts of a stored session still need their copies of the folder. */
import { fold, isFailure } from "@lathe/protocol";
import { type Env, isRunning } from "@lathe/system";
import { openState } from "../history/state.ts";

/** Undefined for a session without attempts. */
export async function attemptsUse(env: Env, session: string): Promise<"open" | "waits" | "none" | undefined> {
  const events = await openState(env).store.read(session);
  const { attempts, owner } = isFailure(events) ? {} : fold(events);
  if (!attempts) return undefined;
  if (attempts.settled) return "none";
  return owner && isRunning(owner) ? "open" : "waits";
}
