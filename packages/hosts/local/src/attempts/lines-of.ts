/** How many lines a unified diff adds and removes. */

export function linesOf(diff: string): { readonly added: number; readonly removed: number } {
  // The first two lines are the names.
  const lines = diff.split("\n").slice(2);
  const count = (mark: string): number => lines.filter((line) => line.startsWith(mark)).length;
  return { added: count("+"), removed: count("-") };
}
