/** Turns what the file system throws into a Failure. */
import { type Failure, failure } from "@lathe/protocol";

const full: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/** `what` says what was being done, e.g. "writing session x". Throws again what no file system throws. */
export function diskFailure(error: unknown, what: string): Failure {
  const code = errorCode(error);
  if (code === undefined) throw error;
  if (full.has(code)) return failure("disk-full", `${what}: the disk is full`, { who: "host", cause: error });
  return failure("no-access", `${what}: ${code}`, { who: "host", cause: error });
}

export function isMissing(error: unknown): boolean {
  return errorCode(error) === "ENOENT";
}

export function isPresent(error: unknown): boolean {
  return errorCode(error) === "EEXIST";
}

function errorCode(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return typeof code === "string" && /^E[A-Z0-9]+$/.test(code) ? code : undefined;
}
