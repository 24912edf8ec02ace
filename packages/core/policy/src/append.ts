/** Appends a list to another one of any length: a call with very many arguments ends in a RangeError. */
export function append<T>(list: T[], more: readonly T[]): void {
  for (const one of more) list.push(one);
}
