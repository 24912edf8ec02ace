/** Reporter: shows one run of the agent in one output format. */

import type { Delta, Event, Failure, Session } from "@lathe/protocol";
import type { Descendants } from "@lathe/sessions";

/** What is known before the first event. */
export interface RunStart {
  readonly session: string;
  readonly models: readonly string[];
  readonly mode: string;
  readonly cwd: string;
}

/** How a run ended: with the session as it is then, or with a failure of the host. */
export interface RunResult {
  readonly session: Session;
  readonly failure?: Failure;
  readonly ms: number;
  /** What was asked for by a schema. */
  readonly output?: { readonly value: unknown };
  /** What its subagents add; absent where there are none. */
  readonly subagents?: Descendants;
}

export interface Reporter {
  start(run: RunStart): void;
  event(event: Event, session: Session): void;
  delta(delta: Delta): void;
  /** *Contract:* called once, last. */
  end(result: RunResult): void;
}

export const outputFormats = ["text", "json", "stream-json"] as const;
export type OutputFormat = (typeof outputFormats)[number];
