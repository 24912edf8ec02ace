/** Chain: the models in their failover order. */
import { chosenModels, type Session } from "@lathe/protocol";

/** The configured order; with a router, the order of its latest table. */
export function chainOf(session: Session): readonly string[] {
  const { settings, route } = session;
  return (settings.router && route?.ranking) || chosenModels(session);
}
