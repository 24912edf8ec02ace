/** A status line on standard error while something takes time that has no lines of its own. */
import { paletteFor, Screen } from "@lathe/terminal";

/** `tell`: for whole lines that stay. */
export async function whileBusy<T>(
  text: string,
  work: (tell: (lines: string) => void) => Promise<T>,
): Promise<T> {
  const screen = new Screen(process.stderr, paletteFor(process.stderr, process.env));
  screen.status(() => text);
  try {
    return await work((lines) => screen.write(lines));
  } finally {
    screen.close();
  }
}
