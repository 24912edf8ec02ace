/** Where an attempt works: a copy of the folder that is entered, compared, taken over or dropped. */
import type { Failure } from "@lathe/protocol";
import type { Kept } from "../forks/keep-fork.ts";
import type { TestChanges } from "./test-changes.ts";

/** What to start so that it works there. */
export interface Entrance {
  readonly words: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface Changes {
  readonly files: number;
  /** Lines of texts. */
  readonly added: number;
  readonly removed: number;
  /** Each text's difference, as git shows it, and a line for what has none. */
  readonly diffs: readonly string[];
  /** What of it are tests, or runs them. */
  readonly tests: TestChanges;
}

export interface Taken extends Omit<Kept, "kept"> {
  /** Paths that were changed in the folder. */
  readonly paths: readonly string[];
}

export interface Place {
  /** *Contract:* one at a time; `program` is absolute words. */
  enter(program: readonly string[]): Promise<Entrance | Failure>;
  /** *Contract:* as `enter`, of a copy that is removed by `leave`: what happens in it leaves no trace. */
  enterCopy(
    program: readonly string[],
  ): Promise<{ readonly entrance: Entrance; leave(): Promise<void> } | Failure>;
  /** *Contract:* while nobody is in it; `testCommand`: what runs the tests, where that is known. */
  changes(testCommand?: string): Promise<Changes | Failure>;
  /** *Contract:* all or none, also across `kill -9`; a failure names what has changed in the folder since. */
  take(onRemark: (text: string) => void): Promise<Taken | Failure>;
  drop(): Promise<Failure | undefined>;
  /** How a person takes it over, or drops it. */
  readonly ways: { readonly take: string; readonly drop: string; readonly look: string };
}
