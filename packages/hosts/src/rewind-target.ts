/** Where a rewind leads, and what on the way there is not the session's own. */
import { type Checkpoints, type Failure, failure, isFailure, type Mark, type Session } from "@lathe/protocol";

const pathsNamed = 10;

export interface Target {
  readonly mark: Mark;
  /** The files right before it; absent when nothing has changed them since, as far as the session knows. */
  readonly ref?: string;
}

/** Before step `to`, or else before the last turn. */
export function targetOf(
  session: Session,
  {
    to,
    files,
    conversation,
  }: { readonly to?: number; readonly files: boolean; readonly conversation: boolean },
): Target | Failure {
  const { marks, checkpoints, turn } = session;
  if (turn && files && !conversation) {
    const text = "its last turn is still open, and goes on when it is resumed; rewind the conversation too";
    return failure("invalid-arguments", text, { who: "user" });
  }
  const mark = marks.findLast((one) => (to === undefined ? one.opens : one.step === to));
  if (!mark) return unknownStep(marks, to);
  const kept = checkpoints.find((one) => one.seq > mark.seq);
  if (!kept && files && !conversation) {
    const why = session.uncovered?.text ?? "no step since then may have changed files";
    return failure("not-found", `there are no files to bring back: ${why}`, { who: "user" });
  }
  return { mark, ...(kept && { ref: kept.ref }) };
}

function unknownStep(marks: readonly Mark[], to: number | undefined): Failure {
  const last = marks.at(-1)?.step;
  const text =
    last === undefined
      ? "the session has no step to go back to"
      : `there is no step ${to}; the steps are 1 to ${last}, as \`lathe sessions show\` numbers them`;
  return failure("invalid-arguments", text, { who: "user" });
}

/** A turn that did not end leaves nothing to tell its changes from somebody else's. */
export const cutOff: Failure = failure(
  "stale-version",
  "its last turn was cut off, so its changes cannot be told from yours: look at `lathe sessions diff`, then use --force",
  { who: "user" },
);

/** Fails when files that would go back were changed between two turns of the session. */
export async function theirs(
  checkpoints: Checkpoints,
  session: Session,
  { ref, mark }: Target,
): Promise<Failure | undefined> {
  const since = session.checkpoints.filter((one) => one.seq > mark.seq);
  const last = since.at(-1);
  if (ref === undefined || !last) return undefined;
  const own = await checkpoints.difference(ref, last.ref);
  if (isFailure(own)) return own;
  const back = new Set(own.map(({ path }) => path));
  const found = new Set<string>();
  for (const [i, one] of since.entries()) {
    const before = since[i - 1];
    if (one.moment !== "before" || before?.moment !== "after" || before.ref === one.ref) continue;
    const between = await checkpoints.difference(before.ref, one.ref);
    if (isFailure(between)) return between;
    for (const { path } of between) if (back.has(path)) found.add(path);
  }
  return found.size === 0 ? undefined : changedBetween([...found]);
}

function changedBetween(paths: readonly string[]): Failure {
  const more = paths.length > pathsNamed ? ` and ${paths.length - pathsNamed} more` : "";
  const named = paths.slice(0, pathsNamed).join(", ") + more;
  const text = `somebody changed ${named} between the turns, and that would be lost; nothing was done. To do it all the same: --force`;
  return failure("stale-version", text, { who: "user" });
}
