/** Image type: what an image is by its bytes, whatever its name says, and how many of them a request takes. */
import type { ImagePart } from "./message.ts";

interface Format {
  readonly type: string;
  /** Of the first bytes, in hexadecimal. */
  readonly mark: RegExp;
  /** Whether it goes on to its end: what is cut off providers refuse, and all that is said with it. */
  isWhole(bytes: Uint8Array): boolean;
}

const formats: readonly Format[] = [
  { type: "image/png", mark: /^89504e470d0a1a0a/, isWhole: isWholePng },
  { type: "image/jpeg", mark: /^ffd8ff/, isWhole: isWholeJpeg },
  { type: "image/gif", mark: /^47494638(?:37|39)61/, isWhole: ({ length }) => length > 13 },
  { type: "image/webp", mark: /^52494646.{8}57454250/, isWhole: isWholeWebp },
];

/** Bytes of the largest image that every API takes, with room for base64. */
export const maxImageBytes: number = 3_500_000;

/** What every API takes of images in one request, with room for the rest: how many, and characters of base64. */
export const maxImages = 20;
export const maxImageChars = 12_000_000;

/** Undefined for what is no image that models can be shown, or is cut off. */
export function imageType(bytes: Uint8Array): string | undefined {
  const head = Array.from(bytes.subarray(0, 12), (byte) => byte.toString(16).padStart(2, "0")).join("");
  const format = formats.find(({ mark }) => mark.test(head));
  return format?.isWhole(bytes) ? format.type : undefined;
}

/** Why no request takes these together; undefined where one does. */
export function imageExcess(images: readonly ImagePart[]): string | undefined {
  const chars = images.reduce((sum, { base64 }) => sum + base64.length, 0);
  if (images.length <= maxImages && chars <= maxImageChars) return undefined;
  const megabytes = (count: number): string => `${((count * 3) / 4 / 1e6).toFixed(1)} MB`;
  return `${images.length} images with ${megabytes(chars)} are more than one request takes (${maxImages}, ${megabytes(maxImageChars)}): give fewer or smaller ones`;
}

/** Chunks of a length, a name, as many bytes and a checksum, up to the one that ends it. */
function isWholePng(bytes: Uint8Array): boolean {
  const view = viewOf(bytes);
  for (let at = 8; at + 12 <= bytes.length; at += 12 + view.getUint32(at)) {
    if (view.getUint32(at + 4) === 0x49454e44) return true;
  }
  return false;
}

/** Its end may have anything behind it. */
function isWholeJpeg(bytes: Uint8Array): boolean {
  for (let at = bytes.lastIndexOf(0xd9); at > 3; at = bytes.lastIndexOf(0xd9, at - 1)) {
    if (bytes[at - 1] === 0xff) return true;
  }
  return false;
}

/** It says how long it is, without the first eight bytes. */
function isWholeWebp(bytes: Uint8Array): boolean {
  return bytes.length > 16 && viewOf(bytes).getUint32(4, true) + 8 <= bytes.length;
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
