/** Tally: what a run added up to, counted from its events. */
import { type Event, messageText } from "@lathe/protocol";

export interface Tally {
  /** Answers of the model. */
  readonly steps: number;
  /** Workspace-relative paths, in the order first changed. */
  readonly changed: readonly string[];
  /** What the model said last, without calls. */
  readonly text: string;
}

export const emptyTally: Tally = { steps: 0, changed: [], text: "" };

export function tallied(tally: Tally, event: Event): Tally {
  if (event.type === "step.completed") {
    const text = finalText(event) ?? tally.text;
    return { ...tally, steps: tally.steps + 1, text };
  }
  if (event.type !== "tool.completed" || event.data.outcome.type !== "ok") return tally;
  const paths = (event.data.outcome.facts?.changed ?? []).map((change) => change.path);
  return { ...tally, changed: [...new Set([...tally.changed, ...paths])] };
}

/** The text of an answer that calls no tools; undefined for one that does. */
export function finalText(event: Event<"step.completed">): string | undefined {
  return event.data.parts.some((part) => part.type === "tool-call")
    ? undefined
    : messageText(event.data.parts);
}
