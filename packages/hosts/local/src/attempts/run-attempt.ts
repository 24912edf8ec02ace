/** One attempt in a process of its own: a session that nobody answers, begun or gone on with. */
import { type Event, type Failure, isFailure } from "@lathe/protocol";
import { type OpenSession, progressOf } from "@lathe/sessions";
import type { LocalOptions } from "../local-options.ts";
import { openAttempt, openJudge } from "../local-sessions.ts";
import type { AttemptOrder, Tell } from "./orders.ts";

/** Everything but who hears of it. */
export type AttemptOptions = Omit<LocalOptions, "attended" | "onEvent" | "onDelta" | "onRemark">;

/** Money and tokens are held by the account of the tree. */
export async function beginAttempt(
  { limits, ...options }: AttemptOptions,
  order: AttemptOrder,
  tell: Tell,
): Promise<OpenSession | Failure> {
  const { tokens: _, cost: _c, ...own } = limits;
  const open = order.isJudge ? openJudge : openAttempt;
  const session = await open(
    {
      ...options,
      limits: order.isJudge ? { ...own, steps: 1 } : own,
      ...(order.isJudge && { mode: "read-only" }),
      attended: false,
      onEvent: (event, after) => {
        if (told.has(event.type)) tell({ type: "progress", progress: progressOf(order.birth.agent, after) });
      },
      onDelta: () => undefined,
      onRemark: (text) => tell({ type: "remark", text }),
    },
    order,
  );
  if (!isFailure(session)) for (const text of session.remarks) tell({ type: "remark", text });
  return session;
}

const told: ReadonlySet<Event["type"]> = new Set([
  "step.started",
  "step.completed",
  "tool.started",
  "tool.completed",
  "turn.ended",
]);

/** *Contract:* nothing is done again that had come to its end; what was interrupted goes on. */
export async function driveAttempt(session: OpenSession): Promise<Failure | undefined> {
  const { lastEnd } = session.session();
  const isNew = lastEnd === undefined || (await session.hasWork());
  if (!isNew && lastEnd.type !== "cancelled") return undefined;
  const ended = await session.run(isNew ? undefined : { text: "Go on." });
  return isFailure(ended) ? ended : undefined;
}
