/** Chain: the models in the order in which one takes over from another. */
import { chosenModels, type Session } from "@lathe/protocol";

/** As configured; where a router chose, by its latest table. */
export function chainOf(session: Session): readonly string[] {
  const { settings, route } = session;
  return (settings.router && route?.ranking) || chosenModels(session);
}
