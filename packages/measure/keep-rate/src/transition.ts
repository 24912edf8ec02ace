/** Transition: how files changed between two times, by a commit or by the files themselves. */

import type { Text } from "./text.ts";
import type { Moment, Remover } from "./tracked-line.ts";

export interface FileTransition {
  readonly path: string;
  /** The earlier path of a renamed file. */
  readonly from?: string;
  /** Undefined where there was no text file, or where it is unknown. */
  readonly before: Text | undefined;
  /** Undefined where the file is gone. */
  readonly after: Text | undefined;
}

export interface Transition extends Moment {
  /** The author date of a commit. */
  readonly writtenAt: number;
  readonly by: Remover;
  /** A commit may lack lines that are not committed yet; a line that is missing from the files is gone. */
  readonly isCommit: boolean;
  readonly files: readonly FileTransition[];
}
