/** The fork host port: what forks need to know of the machine they are kept on. */
import type { Failure } from "@lathe/protocol";
import type { Recovery } from "@lathe/workspace";

export interface ForkHost {
  /** The folder that holds all forks of the user. */
  readonly folder: string;
  readonly home: string;
  /** The id of the fork that this process runs in; absent outside forks. */
  readonly inFork?: string | undefined;
  newId(): string;
  /** *Contract:* the launcher's program; a failure says why there are no forks without it. */
  binary(): Promise<string | Failure>;
  /** *Contract:* the folder for the journal of one workspace, by the workspace's real path. */
  journal(root: string): string;
  /** *Contract:* says for a path below `base` why only a person may change it; undefined for any other path. */
  ownPlaces(base: string): (path: string) => string | undefined;
  /** *Contract:* whether the session compares attempts and has not settled them yet. */
  isAwaited(session: string): Promise<boolean>;
}

export interface RecoveryListener {
  /** Called with the leftovers of a process that died in the middle of a change. */
  onRecovered?: ((recovery: Recovery) => void) | undefined;
}
