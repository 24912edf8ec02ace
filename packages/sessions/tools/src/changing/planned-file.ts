/** One file's part of a change, planned: what is committed, and what is told once it is. */
import type { Change, Committed, OutcomeFacts, ProposedFile } from "@lathe/protocol";

export interface PlannedFile {
  readonly change: Change;
  readonly proposed: ProposedFile;
  done(committed: Committed): { readonly text: string; readonly facts: OutcomeFacts };
  /** *Contract:* the same change with another text after it; of a file that stays where it is. */
  narrowed?(text: string): Promise<PlannedFile>;
}
