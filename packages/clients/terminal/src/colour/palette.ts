/** Colours and weights of text, or none where they are unwanted. */
import { styleText } from "node:util";

type Paint = (text: string) => string;

export interface Palette {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly red: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
  readonly cyan: Paint;
}

const plain: Paint = (text) => text;

/** A stream that may be a terminal. */
interface Screenlike {
  readonly isTTY?: boolean;
}

/** Colours for a terminal; NO_COLOR and TERM=dumb disable them, FORCE_COLOR enables them in pipes. */
export function paletteFor(stream: Screenlike, env: NodeJS.ProcessEnv): Palette {
  const forced = (env.FORCE_COLOR ?? "0") !== "0";
  const wanted = forced || (stream.isTTY === true && env.TERM !== "dumb");
  return palette(wanted && !env.NO_COLOR);
}

export function palette(colored: boolean): Palette {
  const paint = (format: "bold" | "dim" | "red" | "green" | "yellow" | "cyan"): Paint =>
    colored ? (text) => styleText(format, text, { validateStream: false }) : plain;
  return {
    bold: paint("bold"),
    dim: paint("dim"),
    red: paint("red"),
    green: paint("green"),
    yellow: paint("yellow"),
    cyan: paint("cyan"),
  };
}
