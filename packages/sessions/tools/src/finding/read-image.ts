/** Reads an image file for a model to view. */
import {
  type Failure,
  type Files,
  failure,
  imageType,
  isFailure,
  maxImageBytes,
  type Outcome,
} from "@lathe/protocol";

/** Judges by the name only; the bytes decide the actual type. */
export function isImageName(path: string): boolean {
  return /\.(?:png|jpe?g|gif|webp)$/i.test(path);
}

export async function readImage(path: string, files: Files): Promise<Outcome | Failure> {
  const file = await files.bytes(path, maxImageBytes);
  if (isFailure(file)) return file.code === "too-large" ? tooLarge(path) : file;
  const mediaType = imageType(file.bytes);
  if (mediaType === undefined) {
    return failure(
      "not-text",
      `${file.path} is no image that can be shown, or is cut off: look at it with \`file\` in the shell.`,
    );
  }
  const base64 = Buffer.from(file.bytes).toString("base64");
  // The version distinguishes two images of one name, for the model and for the loop guard.
  const text = `${file.path}: ${mediaType}, ${file.bytes.length} bytes, version ${file.version.slice(0, 8)}`;
  return { type: "ok", text, images: [{ type: "image", mediaType, base64 }] };
}

function tooLarge(path: string): Failure {
  const limit = `${maxImageBytes / 1e6} MB`;
  return failure(
    "too-large",
    `${path} is larger than ${limit}, the most that can be shown: make it smaller first.`,
  );
}
