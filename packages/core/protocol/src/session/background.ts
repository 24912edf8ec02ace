/** Background: the commands that the model believes to be running in the background, and those that ended. */
import type { OutcomeFacts } from "../outcome.ts";

export interface Background {
  /** Process IDs. */
  readonly running: readonly string[];
  /** Processes that ended with an earlier owner of the session; the model does not know yet. */
  readonly lost: readonly string[];
  /** The highest process number the model knows: the next one is higher. */
  readonly highest: number;
}

export const noBackground: Background = { running: [], lost: [], highest: 0 };

type ProcessLook = NonNullable<OutcomeFacts["process"]>;

/** Updates after looks at processes: adds running ones, removes ended ones. */
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

/** The model now knows that these have ended. */
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

/** Restores what the model knew then; none of those commands still runs. */
export function afterRewind(now: Background, then: Background): Background {
  return { ...afterOwner(then), highest: now.highest };
}
