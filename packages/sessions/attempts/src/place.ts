/** The place of an attempt: a copy of the folder that is compared with it, then applied or discarded. */
import type { AppliedCopy, ComparedCopy, Failure } from "@lathe/protocol";

/** The command line that starts a program in a place. */
export interface Entrance {
  readonly words: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface EnteredCopy {
  readonly entrance: Entrance;
  /** Removes the copy. */
  leave(): Promise<void>;
}

export interface Place {
  /** *Contract:* one program at a time; `program` is an absolute path and its arguments. */
  enter(program: readonly string[]): Promise<Entrance | Failure>;
  /** *Contract:* like `enter`, in a copy of the place that `leave` removes with all changes. */
  enterCopy(program: readonly string[]): Promise<EnteredCopy | Failure>;
  /** *Contract:* only while no program works in the place. */
  compare(): Promise<ComparedCopy | Failure>;
  /** *Contract:* all or none, also across `kill -9`; a failure names later changes in the folder. */
  take(onRemark: (text: string) => void): Promise<AppliedCopy | Failure>;
  drop(): Promise<Failure | undefined>;
  /** The arguments of this program with which a person applies, discards or views the place. */
  readonly ways: { readonly take: string; readonly drop: string; readonly look: string };
}
