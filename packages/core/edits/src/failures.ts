/** Errors of refused edits: each says that nothing was written, and what to do next. */
import { type Failure, type FailureCode, failure } from "@lathe/protocol";

const untouched = "Nothing was written.";

/** `name` identifies the edit in the call, e.g. `edits[1]`. */
export function refusal(
  code: FailureCode,
  name: string,
  { what, next }: { what: string; next?: string },
): Failure {
  return failure(code, [`${name} ${what}.`, untouched, ...(next ? [next] : [])].join(" "));
}
