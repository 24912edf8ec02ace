/** Taking a session up: it goes on here, and what was said last stands there again. */
import { readSession } from "@lathe/hosts/local";
import { type Event, type Failure, isFailure } from "@lathe/protocol";
import type { Chat } from "./chat.ts";

/** Turns that are shown again. */
const turnsShown = 2;

export async function takeUp(chat: Chat, id: string): Promise<readonly string[] | Failure> {
  const { env } = chat.options;
  const refused = await chat.switchTo(async () => id);
  if (refused) return refused;
  const events = await readSession(env, id);
  if (isFailure(events)) return events;
  const { dim } = chat.theme;
  const from = startOf(events);
  const earlier = from > 0 ? [dim(`… earlier: lathe sessions show ${id}`)] : [];
  chat.print(["", ...earlier]);
  chat.replay(events, from);
  const session = chat.session?.session();
  const open = session?.turn ? " Its last turn was cut off: say anything, and it goes on." : "";
  return ["", dim(`Session ${id}: ${session?.title ?? ""}.${open}`)];
}

/** Where the last turns begin. */
function startOf(events: readonly Event[]): number {
  const opening = events.flatMap((event, at) => {
    const isOpen = event.type === "message.received" && events[at - 1]?.type !== "step.completed";
    return isOpen ? [at] : [];
  });
  return opening.at(-turnsShown) ?? 0;
}
