/** One file's part of a planned change: the commit, and the text and facts to report after it. */
import type { Change, Committed, OutcomeFacts, ProposedFile } from "@lathe/protocol";

export interface PlannedFile {
  readonly change: Change;
  readonly proposed: ProposedFile;
  done(committed: Committed): { readonly text: string; readonly facts: OutcomeFacts };
  /** *Contract:* the same change with another resulting text; only for a file that does not move. */
  narrowed?(text: string): Promise<PlannedFile>;
}
