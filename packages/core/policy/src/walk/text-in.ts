/** The text of a file of the project by its path, as the script has made it or once it has been looked up. */
import type { InnerContext } from "../programs/inner.ts";
import { knownText } from "../shell/known.ts";

export function textIn(path: string, { known, wanted, made }: InnerContext): string | undefined {
  const own = made.get(path);
  if (own) return own.text;
  return knownText(path, { known, wanted });
}
