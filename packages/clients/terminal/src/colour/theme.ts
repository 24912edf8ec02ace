/** Colours and weights for a dark or a light terminal, or none. */
import { styleText } from "node:util";
import { type Palette, palette, paletteFor } from "./palette.ts";

/** The terminal's background; none: no colours. */
export type Ground = "dark" | "light" | "none";

export interface Theme extends Palette {
  readonly italic: (text: string) => string;
  readonly underline: (text: string) => string;
  readonly strike: (text: string) => string;
}

const plain = (text: string): string => text;

export function themeOf(ground: Ground): Theme {
  if (ground === "none") return { ...palette(false), italic: plain, underline: plain, strike: plain };
  const style = (format: "italic" | "underline" | "strikethrough") => (text: string) =>
    styleText(format, text, { validateStream: false });
  const weights = { italic: style("italic"), underline: style("underline"), strike: style("strikethrough") };
  const dark = palette(true);
  if (ground === "dark") return { ...dark, ...weights };
  // The bright colours of the sixteen are illegible on white.
  const [green, yellow, cyan, red] = [28, 130, 31, 160].map(colored);
  return { ...dark, ...weights, ...(green && yellow && cyan && red && { green, yellow, cyan, red }) };
}

/** The theme for a stream whose background cannot be queried. */
export function themeFor(stream: Parameters<typeof paletteFor>[0], env: NodeJS.ProcessEnv): Theme {
  const isColored = paletteFor(stream, env).dim("x") !== "x";
  return themeOf(isColored ? (groundOfVariable(env.COLORFGBG) ?? "dark") : "none");
}

function colored(color: number): (text: string) => string {
  return (text) => `\u001b[38;5;${color}m${text}\u001b[39m`;
}

/** Reads COLORFGBG, as rxvt sets it: foreground and background as numbers of the sixteen colours. */
export function groundOfVariable(value: string | undefined): "dark" | "light" | undefined {
  const last = value?.split(";").at(-1) ?? "";
  if (!/^\d{1,2}$/.test(last)) return undefined;
  const color = Number(last);
  return color === 7 || color >= 9 ? "light" : "dark";
}

/** Asks a terminal for the colour of its background. */
export const groundQuery = "\u001b]11;?\u0007";
const answer = /^\]11;rgba?:([0-9a-f]{1,4})\/([0-9a-f]{1,4})\/([0-9a-f]{1,4})/i;

/** Reads a terminal's answer to `groundQuery`; undefined for any other sequence. */
export function groundOfAnswer(sequence: string): "dark" | "light" | undefined {
  const [, ...parts] = answer.exec(sequence.replace("\u001b", "")) ?? [];
  if (parts.length < 3) return undefined;
  const [red = 0, green = 0, blue = 0] = parts.map(
    (part) => Number.parseInt(part, 16) / (16 ** part.length - 1),
  );
  // Luminance by Rec. 709.
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.5 ? "light" : "dark";
}
