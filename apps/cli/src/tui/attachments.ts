/** Finds the paths of images in a person's message. */
import { statSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The forms in which terminals and file managers paste paths: bare, quoted, escaped, as a URL, after an @.
 */
const named = /"([^"\n]+)"|'([^'\n]+)'|((?:\\.|[^\s\\"'])+)/g;
const image = /\.(?:png|jpe?g|gif|webp)$/i;

/** Absolute paths without duplicates. */
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
