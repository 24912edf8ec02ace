/** Attachments: images that a person names by their path in what they say. */
import { statSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Failure, ImagePart } from "@lathe/protocol";
import { readImages } from "../image-files.ts";

/** As terminals and file managers paste them: bare, quoted, with spaces escaped, as an address, behind an @. */
const named = /"([^"\n]+)"|'([^'\n]+)'|((?:\\.|[^\s\\"'])+)/g;
const image = /\.(?:png|jpe?g|gif|webp)$/i;

export function imagesIn(text: string, cwd: string): readonly ImagePart[] | Failure {
  const paths = [...text.matchAll(named)]
    .map(([, double, single, bare]) => double ?? single ?? bare?.replaceAll(/\\(.)/g, "$1") ?? "")
    .filter((path) => image.test(path))
    .flatMap((path) => existing(path, cwd));
  return readImages([...new Set(paths)]);
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
