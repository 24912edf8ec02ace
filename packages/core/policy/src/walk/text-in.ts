/** The text of a project file by its path, as the script created it or once it has been looked up. */
import { escapeGlob } from "../globs/shell-glob.ts";
import type { Inner, InnerContext } from "../programs/inner.ts";
import { knownText } from "../shell/known.ts";
import { literal } from "../shell/word.ts";

export function textIn(path: string, { known, wanted, made }: InnerContext): string | undefined {
  const own = made.get(path);
  if (own) return own.text;
  return knownText(path, { known, wanted });
}

/** A script in a file of the project, run in `folder`. */
export function projectScript(text: string, folder: string): Inner {
  return {
    type: "script",
    text: literal(text),
    isOwnShell: true,
    origin: "project",
    folder: escapeGlob(folder),
  };
}
