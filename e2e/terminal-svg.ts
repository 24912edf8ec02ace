/** Draws lines of a terminal, with their colours, as an SVG picture. */

interface Style {
  readonly colour?: string | undefined;
  readonly isBold: boolean;
  readonly isDim: boolean;
}

const colours: Readonly<Record<number, string | undefined>> = {
  31: "#f7768e",
  32: "#9ece6a",
  33: "#e0af68",
  34: "#7aa2f7",
  35: "#bb9af7",
  36: "#7dcfff",
  39: undefined,
};
const [width, height, left, top] = [8.4, 18, 16, 44];
const plainStyle: Style = { isBold: false, isDim: false };

export function terminalSvg(lines: readonly string[], columns: number): string {
  const size = [columns * width + 2 * left, top + lines.length * height + 6].map(Math.round);
  const rows = lines.map(
    (line, at) => `<text x="${left}" y="${top + at * height}" xml:space="preserve">${spans(line)}</text>`,
  );
  const dots = ["#f7768e", "#e0af68", "#9ece6a"].map(
    (fill, at) => `<circle cx="${18 + at * 18}" cy="16" r="5" fill="${fill}"/>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.join(" ")}" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14">
<title>A conversation with Lathe</title>
<rect width="100%" height="100%" rx="8" fill="#1a1b26"/>
${dots.join("")}
${rows.join("\n")}
</svg>
`;
}

function spans(line: string): string {
  let style = plainStyle;
  let out = "";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal's own language
  for (const [, codes, text] of line.matchAll(/(?:\u001b\[([\d;]*)m)|([^\u001b]+)/g)) {
    if (text !== undefined) out += span(text, style);
    else style = (codes ?? "").split(";").map(Number).reduce(styled, style);
  }
  return out;
}

function styled(style: Style, code: number): Style {
  if (code === 0) return plainStyle;
  if (code === 1) return { ...style, isBold: true };
  if (code === 2) return { ...style, isDim: true };
  if (code === 22) return { ...style, isBold: false, isDim: false };
  return code in colours ? { ...style, colour: colours[code] } : style;
}

function span(text: string, { colour, isBold, isDim }: Style): string {
  const weight = isBold ? ' font-weight="700"' : "";
  return `<tspan fill="${colour ?? (isDim ? "#787c99" : "#c0caf5")}"${weight}>${escaped(text)}</tspan>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
