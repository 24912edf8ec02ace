/** Attachments: paths of images that a person names in what they say. */
import { statSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** As terminals and file managers paste them: bare, quoted, with spaces escaped, as an address, behind an @. */
const named = /"([^"\n]+)"|'([^'\n]+)'|((?:\\.|[^\s\\"'])+)/g;
const image = /\.(?:png|jpe?g|gif|webp)$/i;

/** Each once, absolute. */
export function imagePaths(text: string, cwd: string): readonly string[] {
  const paths = [...text.matchAll(named)]
    .map(([, double, single, bare]) => double ?? single ?? bare?.replaceAll(/\\(.)/g, "$1") ?? "")
    .filter((path) => image.test(path))
    .flatMap((path) => existing(path, cwd));
  return [...new Set(paths)];
}

function existing(path: string, cwd: string): readonly string[] {
  try {
    const plain = path.startsWith("file:") ? fileURLToPath(path) : path.replace(/^@/, "");
    const whole = resolve(cwd, plain.replace(/^~(?=\/)/, homedir()));
    return statSync(whole).isFile() ? [whole] : [];
  } catch {
    return [];
  }
}
