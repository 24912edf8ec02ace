/** Turns a file system error into a Failure. */
import { type Failure, failure } from "./failure.ts";

const full: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/**
 * `what` names the failed action, e.g. "writing session x". Rethrows errors that are not from a file system.
 */
export function diskFailure(error: unknown, what: string): Failure {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (typeof code !== "string" || !/^E[A-Z0-9]+$/.test(code)) throw error;
  if (full.has(code)) return failure("disk-full", `${what}: the disk is full`, { who: "host", cause: error });
  return failure("no-access", `${what}: ${code}`, { who: "host", cause: error });
}
