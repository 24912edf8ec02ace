/** Pasted images: those that a person put into what they say, each standing there as a mark with a number. */
import { isAbsolute } from "node:path";
import { type Failure, failure, type ImagePart, imageExcess, isFailure } from "@lathe/protocol";
import type { Words } from "@lathe/sessions";
import { readImage, readImages } from "../run/image-files.ts";
import { imagePaths } from "./attachments.ts";

export interface PastedImages {
  /** The mark that stands for it. */
  add(image: ImagePart, path?: string): string;
  /** What was pasted, as marks where it is nothing but paths of images; undefined where it is not. */
  marksOf(text: string, cwd: string): string | Failure | undefined;
  /** What is said, with the images whose marks are in it, and those it names; of one that is named and cannot be shown `remark` is told. */
  wordsOf(text: string, cwd: string, remark: (text: string) => void): Words | Failure;
}

interface Pasted {
  readonly image: ImagePart;
  readonly path: string | undefined;
}

/** A prompt of before may be said again; older ones are let go. */
const maxKept = 8;
const mark = /\[Image #(\d+)\]/g;

export function createPastedImages(): PastedImages {
  const kept = new Map<number, Pasted>();
  let last = 0;
  const add = (image: ImagePart, path?: string): string => {
    kept.set(++last, { image, path });
    kept.delete(last - maxKept);
    return `[Image #${last}]`;
  };
  return {
    add,
    marksOf: (text, cwd) => {
      const paths = pathsOf(text, cwd);
      if (!paths) return undefined;
      const images = readImages(paths);
      if (isFailure(images)) return images;
      return images.map((image, at) => add(image, paths[at])).join(" ");
    },
    wordsOf: (text, cwd, remark) => {
      const numbers = [...new Set([...text.matchAll(mark)].map(([, number]) => Number(number)))];
      const lost = numbers.find((number) => number > 0 && number <= last && !kept.has(number));
      if (lost !== undefined) return noLonger(lost);
      const pasted = numbers.flatMap((number) => {
        const one = kept.get(number);
        return one ? [{ ...one, number }] : [];
      });
      // Words about a file are words, whatever is in it.
      const named = imagePaths(text, cwd).flatMap((path) => {
        const image = readImage(path);
        if (!isFailure(image)) return [image];
        remark(`not attached: ${image.text}`);
        return [];
      });
      const images = [...pasted.map(({ image }) => image), ...named];
      const excess = imageExcess(images);
      if (excess !== undefined) return failure("invalid-arguments", excess, { who: "user" });
      const places = pasted.flatMap(({ path, number }) =>
        path === undefined ? [] : [`[Image #${number}] is the file ${path}`],
      );
      return { text: [text, ...places].join("\n"), ...(images.length > 0 && { images }) };
    },
  };
}

/** Dragged from a file manager, or copied there: each a path to an image, or one that is whole with its spaces. */
function pathsOf(text: string, cwd: string): readonly string[] | undefined {
  const whole = text.trim();
  // A name that somebody pastes as a word of what they say stays one.
  const isPath = isAbsolute(whole.replace(/^["'~]/, "")) || whole.startsWith("file:");
  if (!isPath || whole.length > 4_000) return undefined;
  const asOne = imagePaths(`"${whole}"`, cwd);
  if (asOne.length === 1 && !whole.includes('"')) return asOne;
  const parts = whole.match(/"[^"\n]+"|'[^'\n]+'|(?:\\.|[^\s\\"'])+/g) ?? [];
  const paths = parts.map((part) => imagePaths(part, cwd)[0]);
  return parts.length > 0 && paths.every((path) => path !== undefined) ? paths : undefined;
}

function noLonger(number: number): Failure {
  return failure("invalid-arguments", `[Image #${number}] is not kept any more: paste it again`, {
    who: "user",
  });
}
