/** The mode that a person chose for carrying out a plan. */
import type { Event, Mode } from "@lathe/protocol";

export function agreedMode({ type, data }: Event): Mode | undefined {
  if (type !== "tool.completed" || data.outcome.type !== "ok") return undefined;
  return data.outcome.facts?.plan?.mode;
}
