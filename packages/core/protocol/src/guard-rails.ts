/** Guard rails: help for weaker models; all off by default. */
import * as v from "valibot";

export interface GuardRails {
  /** Show new problems in the result of an edit. */
  readonly diagnosticsAfterEdits?: boolean;
  /** Maximum calls per answer; later ones are refused. 0: no limit. */
  readonly callsPerAnswer?: number;
  /** Reading some lines of a file shows the whole function around them. */
  readonly readsWidened?: boolean;
  /** The prompt shows the workspace's folders. */
  readonly folderLayout?: boolean;
  /** The prompt shows lines that match the user's first message. */
  readonly matchedSnippets?: boolean;
}

const entries = {
  diagnosticsAfterEdits: v.exactOptional(v.boolean()),
  callsPerAnswer: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(0))),
  readsWidened: v.exactOptional(v.boolean()),
  folderLayout: v.exactOptional(v.boolean()),
  matchedSnippets: v.exactOptional(v.boolean()),
};

export const guardRailNames: readonly string[] = Object.keys(entries);

export const guardRailsSchema: v.GenericSchema<unknown, GuardRails> = v.strictObject(entries);
