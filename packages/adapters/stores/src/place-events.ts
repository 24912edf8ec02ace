/** Gives drafts their places in a log. */
import { type Draft, type Event, eventType } from "@lathe/protocol";

/** Gives drafts their places after `head`. */
export function placeEvents(
  drafts: readonly Draft[],
  behind: { readonly session: string; readonly head: number; readonly at: number },
): readonly Event[] {
  const { session, head, at } = behind;
  return drafts.map(({ type, data }, index) => {
    const { version: v } = eventType(type);
    return { v, session, seq: head + index + 1, parent: head + index, at, type, data } as Event;
  });
}
