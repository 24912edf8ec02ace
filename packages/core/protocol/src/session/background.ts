/** Background: which commands the model takes to be running behind the conversation, and which of them are gone. */
import type { OutcomeFacts } from "../outcome.ts";

export interface Background {
  /** Ids of processes. */
  readonly running: readonly string[];
  /** Those that went with an owner of the session, and the model is not told yet. */
  readonly lost: readonly string[];
  /** The highest number of an id that the model has heard: the next one is higher. */
  readonly highest: number;
}

export const noBackground: Background = { running: [], lost: [], highest: 0 };

type ProcessLook = NonNullable<OutcomeFacts["process"]>;

/** After looks at processes: those that run are known to, those that ended are not waited for any more. */
export function afterLooks(before: Background, looks: readonly ProcessLook[]): Background {
  if (looks.length === 0) return before;
  const running = new Set(before.running);
  for (const { id, running: isRunning, insteadOf = id } of looks) {
    running.delete(insteadOf);
    if (isRunning) running.add(id);
  }
  const highest = Math.max(before.highest, ...looks.map(({ id }) => numberOf(id)));
  return { ...before, running: [...running], highest };
}

function numberOf(id: string): number {
  return Number(/^p(\d{1,15})$/.exec(id)?.[1] ?? 0);
}

/** The model has been told that these have ended. */
export function afterEnds(before: Background, ended: readonly string[] = []): Background {
  if (ended.length === 0) return before;
  const isLeft = (id: string): boolean => !ended.includes(id);
  return { ...before, running: before.running.filter(isLeft), lost: before.lost.filter(isLeft) };
}

/** No command outlives the process that owned its session. */
export function afterOwner(before: Background): Background {
  const { running, lost } = before;
  return running.length === 0
    ? before
    : { ...before, running: [], lost: [...new Set([...lost, ...running])] };
}

/** The model knows again what it knew then; of that nothing runs any more. */
export function afterRewind(now: Background, then: Background): Background {
  return { ...afterOwner(then), highest: now.highest };
}
