/** Totals of a run, counted from its events. */

import { type Event, messageText, type RunLaterFile } from "@lathe/protocol";
import { isLooked } from "@lathe/terminal";

export interface Tally {
  /** How many times the model answered. */
  readonly steps: number;
  /** Workspace-relative paths, in the order of their first change. */
  readonly changed: readonly string[];
  /** The model's last answer without calls. */
  readonly text: string;
  /** Changed files that programs or later sessions run or follow. */
  readonly runLater: readonly RunLaterFile[];
  /** The same for earlier turns, which have ended. */
  readonly runLaterBefore: readonly RunLaterFile[];
}

export const emptyTally: Tally = { steps: 0, changed: [], text: "", runLater: [], runLaterBefore: [] };

export function tallied(tally: Tally, event: Event): Tally {
  if (event.type === "step.completed") {
    const text = finalText(event) ?? tally.text;
    return { ...tally, steps: tally.steps + 1, text };
  }
  if (isLooked(event)) return { ...tally, runLater: joined(tally.runLaterBefore, event.data.runLater ?? []) };
  if (event.type === "turn.ended") return { ...tally, runLaterBefore: tally.runLater };
  if (event.type !== "tool.completed" || event.data.outcome.type !== "ok") return tally;
  const paths = (event.data.outcome.facts?.changed ?? []).map((change) => change.path);
  return { ...tally, changed: [...new Set([...tally.changed, ...paths])] };
}

function joined(before: readonly RunLaterFile[], now: readonly RunLaterFile[]): readonly RunLaterFile[] {
  return [...new Map([...before, ...now].map((file) => [file.path, file])).values()];
}

/** The text of an answer that calls no tools; undefined for one that does. */
export function finalText(event: Event<"step.completed">): string | undefined {
  return event.data.parts.some((part) => part.type === "tool-call")
    ? undefined
    : messageText(event.data.parts);
}
