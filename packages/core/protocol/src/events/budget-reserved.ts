/** `budget.reserved`: reserves the worst-case cost of an attempt before it starts. */
import * as v from "valibot";
import type { EventType } from "../session/event-type.ts";

export interface BudgetReserved {
  readonly attempt: string;
  /** Estimated input plus maximal output, in tokens. */
  readonly tokens: number;
  /** US dollars; absent when the price is unknown. */
  readonly cost?: number;
}

const schema: v.GenericSchema<unknown, BudgetReserved> = v.object({
  attempt: v.string(),
  tokens: v.number(),
  cost: v.exactOptional(v.number()),
});

export const budgetReserved: EventType<"budget.reserved", BudgetReserved> = {
  name: "budget.reserved",
  version: 1,
  schema,
  apply: (session, { data: { attempt, ...reservation } }) => ({
    ...session,
    account: { ...session.account, reserved: { ...session.account.reserved, [attempt]: reservation } },
  }),
};
