/** Chain: the models in the order in which one takes over from another. */
import type { Session } from "@lathe/protocol";

/** As configured; where a router chose, by its latest table. */
export function chainOf({ settings, route }: Session): readonly string[] {
  return (settings.router && route?.ranking) || settings.models;
}
