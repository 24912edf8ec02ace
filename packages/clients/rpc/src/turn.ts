/** The result of one turn, as programs get it. */
import type { RunLaterFile, TurnEnd, Usage } from "@lathe/protocol";

/** The result of one prompt. */
export interface Turn {
  readonly session: string;
  readonly end: TurnEnd;
  /** The last answer. */
  readonly text: string;
  /** How often the model answered. */
  readonly steps: number;
  /** Files that edits changed, by path from the folder; changes by commands are not among them. */
  readonly changed: readonly string[];
  /** Changed files, by edits or commands, that programs or later sessions will run or follow. */
  readonly runLater: readonly RunLaterFile[];
  /** Of the whole session, like the cost in dollars; the cost is null when a price is unknown. */
  readonly usage: Usage;
  readonly cost: number | null;
}
