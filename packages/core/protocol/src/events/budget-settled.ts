/** `budget.settled`: replaces a reservation with the actual usage. */
import * as v from "valibot";
import type { EventType } from "../session/event-type.ts";

export interface BudgetSettled {
  readonly attempt: string;
  readonly tokens: number;
  /** US dollars; absent when the price is unknown. */
  readonly cost?: number;
}

const schema: v.GenericSchema<unknown, BudgetSettled> = v.object({
  attempt: v.string(),
  tokens: v.number(),
  cost: v.exactOptional(v.number()),
});

export const budgetSettled: EventType<"budget.settled", BudgetSettled> = {
  name: "budget.settled",
  version: 1,
  schema,
  apply: (session, { data }) => {
    const { [data.attempt]: _, ...reserved } = session.account.reserved;
    return {
      ...session,
      account: {
        tokens: session.account.tokens + data.tokens,
        cost: session.account.cost + (data.cost ?? 0),
        costUnknown: session.account.costUnknown || data.cost === undefined,
        reserved,
      },
    };
  },
};
