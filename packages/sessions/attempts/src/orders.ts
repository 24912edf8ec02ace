/** Orders: messages to and from a process that makes one attempt or runs its tests, one line of JSON each. */
import type { SessionOrigin } from "@lathe/agent";
import type { Failure, SubagentProgress, TestsRun } from "@lathe/protocol";
import type { Words } from "@lathe/sessions";

export interface AttemptOrder {
  readonly type: "attempt";
  readonly id: string;
  readonly origin: SessionOrigin;
  readonly words: Words;
  /** The session answers once, without tools. */
  readonly isJudge?: boolean;
}

export interface TestsOrder {
  readonly type: "tests";
  readonly command: string;
  readonly timeoutMs: number;
  /** A script that reverts changes of the tests, in the sandbox. */
  readonly restore?: string;
}

export type Order = AttemptOrder | TestsOrder;

export type Told =
  | { readonly type: "progress"; readonly progress: SubagentProgress }
  | { readonly type: "remark"; readonly text: string }
  | { readonly type: "failed"; readonly failure: Failure }
  | { readonly type: "tests"; readonly tests: TestsRun };

export type Tell = (told: Told) => void;
