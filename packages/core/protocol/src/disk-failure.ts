/** Turns an error of the file system into a Failure. */
import { type Failure, failure } from "./failure.ts";

const full: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/** `what` says what was being done, e.g. "writing session x". Throws errors again that no file system throws. */
export function diskFailure(error: unknown, what: string): Failure {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (typeof code !== "string" || !/^E[A-Z0-9]+$/.test(code)) throw error;
  if (full.has(code)) return failure("disk-full", `${what}: the disk is full`, { who: "host", cause: error });
  return failure("no-access", `${what}: ${code}`, { who: "host", cause: error });
}
