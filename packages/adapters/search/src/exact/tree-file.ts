/** Tree file: what is known of a tree's files, as bytes that are read in a few milliseconds. */
import { crc32 } from "node:zlib";
import type { FileStamp } from "../tree/file-stamp.ts";
import { trigramsVersion } from "./trigrams.ts";

export interface KeptFile {
  readonly path: string;
  readonly stamp: FileStamp;
  /** Which of the segments, and where in it. */
  readonly segment: number;
  readonly place: number;
}

export interface KeptTree {
  /** Their names. */
  readonly segments: readonly string[];
  readonly files: readonly KeptFile[];
}

const magic = 0x4c545432;
/** Words of the header: magic, version, length, checksum, files, bytes of the names of segments. */
const headerWords = 6;
const stampNumbers = 4;
const fileBytes = stampNumbers * 8 + 8;

export function encodeTree({ segments, files }: KeptTree): Uint8Array {
  const names = Buffer.from(segments.join("\0"));
  const paths = Buffer.from(files.map(({ path }) => path).join("\0"));
  const start = headerWords * 4;
  const bytes = new Uint8Array(start + files.length * fileBytes + names.length + paths.length);
  const stamps = new Float64Array(bytes.buffer, start, files.length * stampNumbers);
  const places = new Uint32Array(bytes.buffer, start + stamps.byteLength, files.length * 2);
  files.forEach(({ stamp, segment, place }, at) => {
    stamps.set([stamp.size, stamp.mtime, stamp.ctime, stamp.inode], at * stampNumbers);
    places.set([segment, place], at * 2);
  });
  bytes.set(names, start + files.length * fileBytes);
  bytes.set(paths, bytes.length - paths.length);
  new Uint32Array(bytes.buffer, 0, headerWords).set([
    magic,
    trigramsVersion,
    bytes.length,
    crc32(bytes.subarray(start)),
    files.length,
    names.length,
  ]);
  return bytes;
}

/** Undefined for bytes that are torn, of another version or of something else. */
export function decodeTree(bytes: Uint8Array): KeptTree | undefined {
  const start = headerWords * 4;
  if (bytes.length < start) return undefined;
  const whole = bytes.byteOffset % 8 === 0 ? bytes : Uint8Array.from(bytes);
  const header = new Uint32Array(whole.buffer, whole.byteOffset, headerWords);
  const [kind, version, length, sum, count = 0, nameBytes = 0] = header;
  if (kind !== magic || version !== trigramsVersion || length !== whole.length) return undefined;
  if (sum !== crc32(whole.subarray(start)) || start + count * fileBytes + nameBytes > length)
    return undefined;
  const stamps = new Float64Array(whole.buffer, whole.byteOffset + start, count * stampNumbers);
  const places = new Uint32Array(whole.buffer, whole.byteOffset + start + stamps.byteLength, count * 2);
  const text = Buffer.from(whole.buffer, whole.byteOffset + start + count * fileBytes, undefined);
  const end = length - start - count * fileBytes;
  const segments = text.toString("utf8", 0, nameBytes).split("\0");
  const paths = text.toString("utf8", nameBytes, end).split("\0");
  if (count > 0 && paths.length !== count) return undefined;
  const files = Array.from({ length: count }, (_, at) => {
    const [size = 0, mtime = 0, ctime = 0, inode = 0] = stamps.subarray(
      at * stampNumbers,
      (at + 1) * stampNumbers,
    );
    const stamp = { size, mtime, ctime, inode };
    return {
      path: paths[at] as string,
      stamp,
      segment: places[at * 2] as number,
      place: places[at * 2 + 1] as number,
    };
  });
  return { segments, files };
}
