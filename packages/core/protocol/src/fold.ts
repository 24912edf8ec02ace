/** Fold: builds a session from its events. */
import { emptyAccount } from "./budget.ts";
import { type Event, eventType } from "./event.ts";
import { noBackground } from "./session/background.ts";
import type { Session } from "./session/session.ts";
import { noUsage } from "./usage.ts";

export const emptySession: Session = {
  id: "",
  head: 0,
  epoch: 0,
  claimed: 0,
  cwd: "",
  title: "",
  createdAt: 0,
  updatedAt: 0,
  prompt: { system: "", tools: [] },
  settings: { models: [], mode: "ask", attended: false },
  limits: {},
  model: "",
  children: [],
  messages: [],
  calls: [],
  usage: noUsage,
  prompts: {},
  density: {},
  account: emptyAccount,
  shown: {},
  background: noBackground,
  todos: [],
  instructed: [],
  circuits: {},
  grants: [],
  rules: [],
  contacts: [],
  recent: [],
  step: 0,
  marks: [],
  compacted: [],
  checkpoints: [],
  refusals: [],
  offers: [],
};

/** Applies one event. Throws if the event does not follow the head, which a store never returns. */
export function apply(session: Session, event: Event): Session {
  if (event.seq !== session.head + 1 || event.parent !== session.head) {
    throw new Error(`event ${event.seq} (parent ${event.parent}) does not follow ${session.head}`);
  }
  const next = eventType(event.type).apply(session, event);
  return { ...next, head: event.seq, updatedAt: event.at };
}

export function fold(events: readonly Event[], from: Session = emptySession): Session {
  return events.reduce(apply, from);
}
