/** File errors: what the code of an error of the file system means. */

export function isMissing(error: unknown): boolean {
  return codeOf(error) === "ENOENT";
}

export function isPresent(error: unknown): boolean {
  return codeOf(error) === "EEXIST";
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}
