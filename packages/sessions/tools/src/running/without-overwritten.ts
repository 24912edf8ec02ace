/** Without the overwritten: of a line that was written over again and again, as bars of progress are, what stood there last. */

/** So often a line is written over before that is taken for progress, and not for an odd end of lines. */
const fewest = 3;

export function withoutOverwritten(text: string): string {
  if (!text.includes("\r")) return text;
  return text.split("\n").map(lastState).join("\n");
}

function lastState(line: string): string {
  const states = line.split("\r").filter((state) => state.trim() !== "");
  const earlier = states.length - 1;
  if (earlier < fewest) return line;
  return `${states.at(-1)} [written over ${earlier} times: \`| tr '\\r' '\\n'\` shows the earlier states]`;
}
