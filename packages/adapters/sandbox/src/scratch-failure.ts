/** The failure that an unusable scratch folder causes for a sandbox, with a remedy. */
import { type Failure, failure } from "@lathe/protocol";

const meanings: Readonly<Record<string, string>> = {
  ENOSPC: "is full",
  EDQUOT: "is full (the disk quota is used up)",
  EACCES: "is not writable",
  EPERM: "is not writable",
  EROFS: "is not writable",
};

export function scratchFailure(scratch: string, error: unknown): Failure {
  const { code = "" } = error as NodeJS.ErrnoException;
  const what = meanings[code] ?? `cannot be used${/^E[A-Z]+$/u.test(code) ? ` (${code})` : ""}`;
  const text = `the sandbox's scratch folder ${scratch} ${what}: TMPDIR can name another place for it`;
  return failure("sandbox-unavailable", text, { cause: error });
}
