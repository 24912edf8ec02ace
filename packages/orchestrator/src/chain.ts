/** Chain: the models in the order in which one takes over from another. */
import type { Session } from "@lathe/protocol";

export function chainOf({ settings }: Session): readonly string[] {
  return settings.models;
}
