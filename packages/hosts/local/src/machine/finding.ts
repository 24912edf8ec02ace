/** Finding: one thing that was looked at on this machine, and how to mend it. */
import type { LocalOptions } from "../local-options.ts";

export interface Finding {
  readonly name: string;
  /** `bad`: Lathe cannot work; `weak`: it can, with less. */
  readonly state: "good" | "weak" | "bad";
  readonly text: string;
  /** What to do about it. */
  readonly mend?: string;
}

/** What is judged beside the machine: the models as configured, and how they are reached. */
export type Examined = Pick<LocalOptions, "env" | "models" | "providers" | "router">;
