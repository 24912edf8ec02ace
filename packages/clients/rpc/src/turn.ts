/** The result of one turn, as programs receive it. */
import type { RunLaterFile, TurnEnd, Usage } from "@lathe/protocol";

/** The result of one prompt. */
export interface Turn {
  readonly session: string;
  readonly end: TurnEnd;
  /** The last answer. */
  readonly text: string;
  /** How many times the model answered. */
  readonly steps: number;
  /** Files that edits changed, relative to the folder; does not include changes by commands. */
  readonly changed: readonly string[];
  /** Changed files, by edits or commands, that programs or later sessions will run or follow. */
  readonly runLater: readonly RunLaterFile[];
  /** Totals of the whole session; the cost is in US dollars, or null when a price is unknown. */
  readonly usage: Usage;
  readonly cost: number | null;
}
