/** Plain lines: an output as a terminal would show it. */

const introducer = "\u001b";
const colour = new RegExp(`${introducer}\\[[\\d;?]*[A-Za-z]`, "g");
/** The target of a terminal link; its text stays. */
const link = new RegExp(`${introducer}\\]8;[^${introducer}\u0007\\n]*(?:\u0007|${introducer}\\\\)`, "g");

/** Without colors, links, carriage returns and overwritten text. */
export function plainLines(text: string): readonly string[] {
  const plain = text.replace(link, "").replace(colour, "");
  return plain.split(/\r?\n/).map((line) => line.slice(line.lastIndexOf("\r") + 1));
}
