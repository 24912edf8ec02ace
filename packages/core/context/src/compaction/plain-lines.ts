/** Plain lines: what a terminal would show of an output. */

const introducer = "\u001b";
const colour = new RegExp(`${introducer}\\[[\\d;?]*[A-Za-z]`, "g");
/** Where a link leads to; the words that are one stay. */
const link = new RegExp(`${introducer}\\]8;[^${introducer}\u0007\\n]*(?:\u0007|${introducer}\\\\)`, "g");

/** Without colours, links, carriage returns and what they overwrote. */
export function plainLines(text: string): readonly string[] {
  const plain = text.replace(link, "").replace(colour, "");
  return plain.split(/\r?\n/).map((line) => line.slice(line.lastIndexOf("\r") + 1));
}
