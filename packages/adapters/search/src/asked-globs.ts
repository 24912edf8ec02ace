/** Asked globs: interprets a glob as models write it. */
import { statSync } from "node:fs";
import { join } from "node:path";
import type { Place } from "./place.ts";

export type Where = Pick<Place, "root" | "path">;

/** Splits a list of globs, from the root or by name; adds a folder's content if one is named. */
export function askedGlobs(where: Where, glob: string): readonly string[] {
  const whole = withoutRoot(where.root, glob);
  const parts = listed(whole);
  const all = parts.length > 1 ? [whole, ...parts.map((part) => withoutRoot(where.root, part))] : [whole];
  return all.flatMap((one) => (isFolder(where, one) ? [one, `${one}/**`] : [one]));
}

function withoutRoot(root: string, glob: string): string {
  const [sign, body] = glob.startsWith("!") ? ["!", glob.slice(1)] : ["", glob];
  if (body === root) return `${sign}**`;
  return body.startsWith(`${root}/`) ? `${sign}${body.slice(root.length)}` : glob;
}

/** Splits at commas outside of braces, and at blanks if the text contains only globs. */
function listed(glob: string): readonly string[] {
  let depth = 0;
  const parts = [""];
  for (const token of glob.match(/\\.|\[[!^]?\]?[^\]/]*\]|./gsu) ?? []) {
    if (token === "{") depth++;
    if (token === "}") depth--;
    if (token === "," && depth === 0) parts.push("");
    else parts.push(`${parts.pop()}${token}`);
  }
  return parts.flatMap(spaced).filter((part) => part !== "");
}

function spaced(part: string): readonly string[] {
  const words = part.trim().split(/\s+/);
  return words.every((word) => word.includes("*")) ? words : [part.trim()];
}

function isFolder({ root, path }: Where, glob: string): boolean {
  if (glob === "" || /[*?[\]{}\\!]|\/$/.test(glob)) return false;
  return [join(root, glob), join(root, path, glob)].some(
    (folder) => statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true,
  );
}
