/** Plan: what is known of the plan of a session. */
import type { Mode } from "./decision.ts";

export interface Plan {
  /** The file it is kept in. */
  readonly path: string;
}

/** What came of handing in a plan. */
export interface PlanMade extends Plan {
  /** The one the session goes on in. */
  readonly mode?: Mode;
}
