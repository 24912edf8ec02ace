/** Settings: what the user chose for a session. */
import type { Mode } from "../decision.ts";
import type { Effort } from "../effort.ts";
import type { GuardRails } from "../guard-rails.ts";
import type { RouterSettings } from "../routing.ts";
import type { Assignment } from "./experiments.ts";

/** Settings of a session that may change between turns. */
export interface Settings {
  /** Failover chain of model ids, the preferred one first. */
  readonly models: readonly string[];
  /** The model that makes plans, beside those that carry them out. */
  readonly planner?: string;
  /** A router chooses among `models`, which then are in no order. */
  readonly router?: RouterSettings;
  /** Absent: each model as its provider has it. */
  readonly effort?: Effort;
  readonly mode: Mode;
  /** Whether a person can be asked. */
  readonly attended: boolean;
  /** Whether the files are kept before steps that may change them. */
  readonly checkpoints?: boolean;
  /** The fork of the folder that it works in. */
  readonly inFork?: string;
  /** The arms it got of the experiments it is in. */
  readonly experiments?: readonly Assignment[];
  /** Over what the profile of the model says. */
  readonly guardRails?: GuardRails;
}
