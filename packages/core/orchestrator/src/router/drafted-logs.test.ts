/** Logs as drafts, for tests of training. */
import type { Event, EventData } from "@lathe/protocol";

export type Drafted = { readonly type: string; readonly data: unknown };
export const logOf = (drafts: readonly Drafted[]): readonly Event[] =>
  drafts.map((draft, i) => ({ ...draft, v: 1, session: "s", seq: i + 1, parent: i, at: i }) as Event);

const row = (model: string, tier: "small" | "large") =>
  ({ model, tier, quality: 0.9, cost: { prompt: 0.1, cache: 0, answer: 0 }, steps: 3, score: 1 }) as const;
export const routed = (more: Partial<EventData<"model.routed">> = {}): Drafted => ({
  type: "model.routed",
  data: {
    from: "a",
    to: "a",
    moment: "turn",
    mode: "balanced",
    why: "",
    features: { length: 2 },
    odds: { light: 0.5, ordinary: 0.4, hard: 0.1 },
    table: [row("a", "small"), row("b", "large"), row("c", "large")],
    propensity: 0.9,
    ...more,
  },
});
export const step = (cost?: number): Drafted => ({
  type: "step.completed",
  data: { ...(cost !== undefined && { cost }) },
});
export const ran = (exitCode: number): Drafted => ({
  type: "tool.completed",
  data: { outcome: { type: "ok", text: "", facts: { exitCode } } },
});
export const ended = (type = "done"): Drafted => ({ type: "turn.ended", data: { end: { type } } });
export const said = (text: string): Drafted => ({
  type: "message.received",
  data: { parts: [{ type: "text", text }] },
});
