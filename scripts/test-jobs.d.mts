export function isFull(file: string): boolean;

/** *Contract:* each of `files` runs in exactly one of the files that are named; those it writes lie in `folder`. */
export function jobsOf(
  files: readonly string[],
  places: { readonly root: string; readonly folder: string },
): string[];
