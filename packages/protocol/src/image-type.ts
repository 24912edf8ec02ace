/** Image type: what an image is by its first bytes, whatever its name says. */

/** In hexadecimal. */
const marks: readonly (readonly [type: string, mark: RegExp])[] = [
  ["image/png", /^89504e470d0a1a0a/],
  ["image/jpeg", /^ffd8ff/],
  ["image/gif", /^47494638(?:37|39)61/],
  ["image/webp", /^52494646.{8}57454250/],
];

/** Bytes of the largest image that every API takes, with room for base64. */
export const maxImageBytes: number = 3_500_000;

/** Undefined for what is no image that models can be shown. */
export function imageType(bytes: Uint8Array): string | undefined {
  const head = Array.from(bytes.subarray(0, 12), (byte) => byte.toString(16).padStart(2, "0")).join("");
  return marks.find(([, mark]) => mark.test(head))?.[0];
}
