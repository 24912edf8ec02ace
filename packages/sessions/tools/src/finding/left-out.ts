/** The note on paths that rules exclude from reading. */

export function leftOutNote(count: number, what: string): readonly string[] {
  if (count === 0) return [];
  return [`[${count} ${what}${count === 1 ? "" : "s"} left out by a rule on reading]`];
}
