/** What a workspace is opened with. */
import type { WithLease } from "@lathe/protocol";
import type { Disk } from "./disk/disk.ts";
import type { ProcessOwner } from "./journal/process-owner.ts";
import type { Recovery } from "./journal/recover-journals.ts";

export interface WorkspaceOptions {
  /** An existing folder. */
  readonly root: string;
  /** Around what a commit changes: of the session's owner, so that no deposed one changes files. */
  readonly withLease?: WithLease;
  readonly disk?: Disk;
  /**
   * A folder of this root's alone, made when first needed. Without it a commit of several files is all or
   * none only while the process lives, a killed process leaves its temporary files, and two processes are not kept
   * apart: for tests.
   */
  readonly journal?: string;
  /** Told when a process had died in the middle of a commit; during the first read or commit after that. */
  readonly onRecovered?: (recovery: Recovery) => void;
  /** Whether the process of another journal still runs. */
  readonly isAlive?: (owner: ProcessOwner) => boolean;
}
