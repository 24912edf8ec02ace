/** What a refused edit says: always that nothing was written, and what to do next. */
import { type Failure, type FailureCode, failure } from "@lathe/protocol";

const untouched = "Nothing was written.";

/** `name` is which edit of the call it is, e.g. `edits[1]`. */
export function refusal(
  code: FailureCode,
  name: string,
  { what, next }: { what: string; next?: string },
): Failure {
  return failure(code, [`${name} ${what}.`, untouched, ...(next ? [next] : [])].join(" "));
}
