/** Guard rails: help for models that lose their way; all off by default. */
import * as v from "valibot";

export interface GuardRails {
  /** What an edit made worse stands in its result. */
  readonly diagnosticsAfterEdits?: boolean;
  /** Calls of one answer that are made; those after them are refused. 0: all. */
  readonly callsPerAnswer?: number;
  /** Who reads some lines is shown the whole function around them. */
  readonly readsWidened?: boolean;
  /** The prompt shows the workspace's folders. */
  readonly folderLayout?: boolean;
  /** The prompt shows lines that match the user's first words. */
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
