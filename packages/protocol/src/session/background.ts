/** Background: which commands the model takes to be running behind the conversation, and which of them are gone. */
import type { OutcomeFacts } from "../outcome.ts";
import type { Session } from "./session.ts";

/** After looks at processes: those that run are known to, those that ended are not waited for any more. */
export function afterLooks(
  background: readonly string[] | undefined,
  looks: readonly NonNullable<OutcomeFacts["process"]>[],
): readonly string[] | undefined {
  if (looks.length === 0) return background;
  const running = new Set(background);
  for (const { id, running: isRunning } of looks) {
    if (isRunning) running.add(id);
    else running.delete(id);
  }
  return running.size === 0 ? undefined : [...running];
}

/** The model has been told that these have ended. */
export function withEnded(session: Session, ended: readonly string[] = []): Session {
  if (ended.length === 0) return session;
  const { background, lost, ...rest } = session;
  const isLeft = (id: string): boolean => !ended.includes(id);
  return {
    ...rest,
    ...listed("background", background?.filter(isLeft)),
    ...listed("lost", lost?.filter(isLeft)),
  };
}

/** No command outlives the process that owned its session. */
export function withLost(session: Session): Session {
  const { background, ...rest } = session;
  return background ? { ...rest, lost: [...new Set([...(session.lost ?? []), ...background])] } : session;
}

function listed<Name extends "background" | "lost">(
  name: Name,
  ids: readonly string[] | undefined,
): { readonly [key in Name]?: readonly string[] } {
  return ids && ids.length > 0 ? ({ [name]: ids } as { [key in Name]: readonly string[] }) : {};
}
