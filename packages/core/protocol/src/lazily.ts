/** Opens a resource on first use, and only once: a package, a server, an index. */
export interface Lazily<T> {
  /** *Contract:* all callers get the same result, even while it is opening. */
  (): Promise<T>;
  /** The resource if it was used, so that its owner can close it; undefined before the first use. */
  opened(): Promise<T> | undefined;
}

/** `isKept`: whether an outcome is kept; otherwise the next call opens it again. */
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
