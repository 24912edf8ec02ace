/** Opens something when it is first asked for, and once: a package, a server, an index. */
export interface Lazily<T> {
  /** *Contract:* everyone who asks gets the same, also while it is being opened. */
  (): Promise<T>;
  /** What has been asked for, for the one who closes it; undefined before the first use. */
  opened(): Promise<T> | undefined;
}

/** `isKept`: whether an outcome stays; after any other the next one who asks has it opened again. */
export function lazily<T>(open: () => Promise<T>, isKept: (outcome: T) => boolean = () => true): Lazily<T> {
  let opening: Promise<T> | undefined;
  const ask = async (): Promise<T> => {
    opening ??= open();
    const asked = opening;
    const outcome = await asked;
    if (opening === asked && !isKept(outcome)) opening = undefined;
    return outcome;
  };
  return Object.assign(ask, { opened: () => opening });
}
