/**
 * Finds requests of a recorded session that do not extend the previous one, without an event that explains
 * it.
 */
import {
  apply,
  type Event,
  emptySession,
  type ModelInfo,
  type ModelRequest,
  type Session,
} from "@lathe/protocol";

/** Events after which a request may start a new prefix. */
const excuses: ReadonlySet<string> = new Set([
  "session.created",
  "model.switched",
  "session.rewound",
  "context.compacted",
]);

/** `assemble` builds a request as the harness does. Returns one sentence for each break. */
export function brokenPrefixes(
  events: readonly Event[],
  assemble: (session: Session, info: ModelInfo) => ModelRequest,
): readonly string[] {
  const found: string[] = [];
  let session = emptySession;
  let before: ModelRequest | undefined;
  for (const event of events) {
    if (excuses.has(event.type)) before = undefined;
    if (event.type === "step.started") {
      const info = { id: event.data.model, window: 1e6, maxOutput: 1e5 };
      const request = assemble(session, info);
      const why = before && difference(before, request);
      if (why) found.push(`${why} differ at event ${event.seq} of ${event.session}`);
      before = request;
    }
    session = apply(session, event);
  }
  return found;
}

function difference(before: ModelRequest, request: ModelRequest): string | undefined {
  if (before.system !== request.system) return "system prompts";
  if (bytes(before.tools) !== bytes(request.tools)) return "tools";
  const start = request.messages.slice(0, before.messages.length);
  return bytes(start) === bytes(before.messages) ? undefined : "messages";
}

function bytes(value: unknown): string {
  return JSON.stringify(value);
}
