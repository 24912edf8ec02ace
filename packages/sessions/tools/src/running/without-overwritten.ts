/** Without overwritten text: keeps only the last text of a line that was overwritten, like a progress bar. */

/** A line overwritten this often counts as progress, not as an unusual line ending. */
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
