/** Transition: what became of files between two moments, seen in a commit or in the files themselves. */

import type { Text } from "./text.ts";
import type { Moment, Remover } from "./tracked-line.ts";

export interface FileTransition {
  readonly path: string;
  /** Where it was before, of a file that was renamed. */
  readonly from?: string;
  /** Undefined where there was no file, where it is not known, or where it is no text. */
  readonly before: Text | undefined;
  /** Undefined where there is none any more. */
  readonly after: Text | undefined;
}

export interface Transition extends Moment {
  /** When the author of a commit had written it, whoever has committed it since. */
  readonly writtenAt: number;
  readonly by: Remover;
  /** A commit may leave out what is not committed yet; the files themselves leave no doubt. */
  readonly isCommit: boolean;
  readonly files: readonly FileTransition[];
}
