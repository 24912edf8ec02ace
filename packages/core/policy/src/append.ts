/** Appends a list of any length to another: a function call with very many arguments throws a RangeError. */
export function append<T>(list: T[], more: readonly T[]): void {
  for (const one of more) list.push(one);
}
