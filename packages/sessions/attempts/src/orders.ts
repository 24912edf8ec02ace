/** Orders: what a process is told that makes one attempt or runs its tests, and what it tells back, a line of JSON each. */
import type { Birth } from "@lathe/agent";
import type { Failure, SubagentProgress, TestsRun } from "@lathe/protocol";
import type { Words } from "@lathe/sessions";

export interface AttemptOrder {
  readonly type: "attempt";
  readonly id: string;
  readonly birth: Birth;
  readonly words: Words;
  /** It answers once, with no tools. */
  readonly isJudge?: boolean;
}

export interface TestsOrder {
  readonly type: "tests";
  readonly command: string;
  readonly timeoutMs: number;
  /** A script that puts the tests back as they were, in the sandbox. */
  readonly restore?: string;
}

export type Order = AttemptOrder | TestsOrder;

export type Told =
  | { readonly type: "progress"; readonly progress: SubagentProgress }
  | { readonly type: "remark"; readonly text: string }
  | { readonly type: "failed"; readonly failure: Failure }
  | { readonly type: "tests"; readonly tests: TestsRun };

export type Tell = (told: Told) => void;
