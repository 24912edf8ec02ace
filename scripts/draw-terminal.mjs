/**
 * Draws what a command prints on a terminal as an SVG: `npm run draw` makes `docs/demo.svg` from a real run.
 * Needs `script` (util-linux) for the terminal. Understands colours, bold, dim, and lines that are drawn again.
 */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";

const [command, target, columns = "92", most = "48"] = process.argv.slice(2);
const colours = {
  31: "#f7768e",
  32: "#9ece6a",
  33: "#e0af68",
  34: "#7aa2f7",
  35: "#bb9af7",
  36: "#7dcfff",
  39: undefined,
};
const [width, height, left, top] = [8.4, 18, 16, 44];

function record() {
  const { stdout, status } = spawnSync(
    "script",
    ["-qefc", `stty cols ${columns} rows 60; ${command}`, "/dev/null"],
    { encoding: "utf8", env: { ...process.env, TERM: "xterm-256color" }, maxBuffer: 1 << 24 },
  );
  if (status !== 0) throw new Error(`${command} ended with ${status}:\n${stdout}`);
  return stdout.replaceAll("\r\n", "\n");
}

/** The lines that stay on the screen: what was erased or drawn over is left out. */
function finalLines(text) {
  const lines = text.split("\n").map((line) =>
    line
      .slice(line.lastIndexOf("\r") + 1)
      .split("\u001b[2K")
      .at(-1),
  );
  return lines.filter((line, at) => line.trim() !== "" || lines[at - 1]?.trim() !== "").flatMap(wrapped);
}

/** A line too long for the terminal goes on in the next; those with colours are fitted by the command itself. */
function wrapped(line) {
  const plain = stripVTControlCharacters(line) === line;
  return plain && line.length > columns ? line.match(new RegExp(`.{1,${columns}}`, "gu")) : [line];
}

function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

const plainStyle = { colour: undefined, bold: false, dim: false };

function styled(style, code) {
  if (code === 0) return plainStyle;
  if (code === 1) return { ...style, bold: true };
  if (code === 2) return { ...style, dim: true };
  if (code === 22) return { ...style, bold: false, dim: false };
  return code in colours ? { ...style, colour: colours[code] } : style;
}

function spans(line) {
  let style = plainStyle;
  let out = "";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal's own language
  for (const [, codes, text] of line.matchAll(/(?:\u001b\[([\d;]*)m)|([^\u001b]+)/g)) {
    style = (codes?.split(";") ?? []).map(Number).reduce(styled, style);
    if (text !== undefined) out += span(text, style);
  }
  return out;
}

function span(text, { colour, bold, dim }) {
  const weight = bold ? ' font-weight="700"' : "";
  return `<tspan fill="${colour ?? (dim ? "#787c99" : "#c0caf5")}"${weight}>${escaped(text)}</tspan>`;
}

function draw(lines) {
  const size = [Number(columns) * width + 2 * left, top + lines.length * height + 14].map(Math.round);
  const rows = lines.map(
    (line, at) => `<text x="${left}" y="${top + at * height}" xml:space="preserve">${spans(line)}</text>`,
  );
  const dots = ["#f7768e", "#e0af68", "#9ece6a"].map(
    (fill, at) => `<circle cx="${18 + at * 18}" cy="16" r="5" fill="${fill}"/>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.join(" ")}" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14">
<title>${escaped(command)}</title>
<rect width="100%" height="100%" rx="8" fill="#1a1b26"/>
${dots.join("")}
${rows.join("\n")}
</svg>
`;
}

const lines = finalLines(record()).filter((line) => !stripVTControlCharacters(line).startsWith("Script "));
const shown = [`\u001b[1m$ ${command}\u001b[22m`, "", ...lines.slice(0, Number(most))];
writeFileSync(target, draw(shown));
console.log(`${target}: ${shown.length} lines`);
