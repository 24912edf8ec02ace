/** Problems: what checkers find in files. */
import * as v from "valibot";

export const severities = ["error", "warning", "info"] as const;
export type Severity = (typeof severities)[number];

/** One thing that is wrong in one place. */
export interface Problem {
  /** From the workspace; absolute where outside. */
  readonly path: string;
  /** From 1, as the column is. */
  readonly line: number;
  readonly column: number;
  readonly severity: Severity;
  /** The checker's name for it, e.g. `TS2322`. */
  readonly code?: string;
  /** One line. */
  readonly message: string;
}

/** What all checks of a call came to. */
export interface Checked {
  readonly errors: number;
  readonly warnings: number;
  /** The first of them. */
  readonly problems: readonly Problem[];
}

export const checkedSchema: v.GenericSchema<unknown, Checked> = v.object({
  errors: v.number(),
  warnings: v.number(),
  problems: v.array(
    v.object({
      path: v.string(),
      line: v.number(),
      column: v.number(),
      severity: v.picklist(severities),
      code: v.exactOptional(v.string()),
      message: v.string(),
    }),
  ),
});
