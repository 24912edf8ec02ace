/** Session changes: what the files of a session were before its first step that may have changed them, and after. */
import { type Failure, type FileDifference, failure, fold, isFailure, type Session } from "@lathe/protocol";
import { readSession } from "./history.ts";
import { createLazyCheckpoints } from "./lazy-checkpoints.ts";

type Env = Readonly<Record<string, string | undefined>>;

export interface SessionChanges {
  readonly session: Session;
  readonly files: readonly FileDifference[];
  /** Whether its last turn was cut off: then it is compared with the files now. */
  readonly isOpen: boolean;
}

export async function sessionChanges(env: Env, id: string): Promise<SessionChanges | Failure> {
  const events = await readSession(env, id);
  if (isFailure(events)) return events;
  const session = fold(events);
  const [first] = session.checkpoints;
  const last = session.checkpoints.at(-1);
  if (!first || !last) return { session, files: [], isOpen: false };
  const checkpoints = await createLazyCheckpoints({ root: session.cwd, env })();
  if (isFailure(checkpoints)) return checkpoints;
  const isOpen = last.moment === "before";
  const files = await checkpoints.difference(first.ref, isOpen ? undefined : last.ref);
  if (!isFailure(files)) return { session, files, isOpen };
  if (files.code !== "not-found") return files;
  return failure("not-found", "its checkpoints are gone: the store had to make room for newer sessions", {
    who: "user",
  });
}
