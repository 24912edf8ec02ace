/** File errors: the meaning of a file system error's code. */

export function isMissing(error: unknown): boolean {
  return codeOf(error) === "ENOENT";
}

export function isPresent(error: unknown): boolean {
  return codeOf(error) === "EEXIST";
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}
