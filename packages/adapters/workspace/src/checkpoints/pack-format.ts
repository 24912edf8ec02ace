/** The parts of git's pack and index formats, version 2, for whole objects (no deltas). */
import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import type { ObjectType } from "./git-objects.ts";

export interface PackedObject {
  readonly id: string;
  readonly type: ObjectType;
  /** Bytes before compression. */
  readonly size: number;
  readonly deflated: Buffer;
}

const typeNumbers: Readonly<Record<ObjectType, number>> = { commit: 1, tree: 2, blob: 3 };
const headBytes = 8;
const fanOutBytes = 1024;

export interface Pack {
  readonly name: string;
  readonly pack: readonly Buffer[];
  readonly index: Buffer;
}

/** A pack must stay below 2 GiB: a larger one would need another index table. */
export function encodePack(objects: readonly PackedObject[]): Pack {
  const head = Buffer.from("PACK\0\0\0\x02\0\0\0\0", "latin1");
  head.writeUInt32BE(objects.length, 8);
  const parts: Buffer[] = [head];
  let offset = head.length;
  const entries = objects.map(({ id, type, size, deflated }) => {
    const start = entryHead(typeNumbers[type], size);
    parts.push(start, deflated);
    const entry = { id, offset, crc: crc32(deflated, crc32(start)) };
    offset += start.length + deflated.length;
    return entry;
  });
  const hash = createHash("sha1");
  for (const part of parts) hash.update(part);
  const sum = hash.digest();
  entries.sort((a, b) => (a.id < b.id ? -1 : 1));
  const name = createHash("sha1");
  for (const { id } of entries) name.update(id);
  return { name: name.digest("hex"), pack: [...parts, sum], index: encodeIndex(entries, sum) };
}

/** Type in three bits, size in little-endian groups of seven bits after the first four. */
function entryHead(type: number, size: number): Buffer {
  const bytes = [(type << 4) | (size & 15)];
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 0x80;
    bytes.push(rest & 0x7f);
  }
  return Buffer.from(bytes);
}

interface IndexEntry {
  readonly id: string;
  readonly offset: number;
  readonly crc: number;
}

function encodeIndex(entries: readonly IndexEntry[], packSum: Buffer): Buffer {
  const count = entries.length;
  const bytes = Buffer.alloc(headBytes + fanOutBytes + count * 28 + 40);
  bytes.write("\u00fftOc\0\0\0\x02", 0, "latin1");
  const ids = headBytes + fanOutBytes;
  let next = 0;
  for (let first = 0; first < 256; first++) {
    while (next < count && Number.parseInt(entries[next]?.id.slice(0, 2) ?? "", 16) <= first) next++;
    bytes.writeUInt32BE(next, headBytes + first * 4);
  }
  for (const [i, { id, offset, crc }] of entries.entries()) {
    bytes.write(id, ids + i * 20, "hex");
    bytes.writeUInt32BE(crc, ids + count * 20 + i * 4);
    bytes.writeUInt32BE(offset, ids + count * 24 + i * 4);
  }
  const end = ids + count * 28;
  packSum.copy(bytes, end);
  createHash("sha1")
    .update(bytes.subarray(0, end + 20))
    .digest()
    .copy(bytes, end + 20);
  return bytes;
}

/** The ids in an index; undefined for one that is broken. */
export function idsOfIndex(bytes: Buffer): readonly string[] | undefined {
  if (bytes.length < headBytes + fanOutBytes + 40 || bytes.readUInt32BE(0) !== 0xff744f63) return undefined;
  const count = bytes.readUInt32BE(headBytes + fanOutBytes - 4);
  const start = headBytes + fanOutBytes;
  if (bytes.length < start + count * 28 + 40) return undefined;
  const sum = createHash("sha1").update(bytes.subarray(0, -20)).digest();
  if (!sum.equals(bytes.subarray(-20))) return undefined;
  const hex = bytes.toString("hex", start, start + count * 20);
  return Array.from({ length: count }, (_, i) => hex.slice(i * 40, i * 40 + 40));
}

/** The sum at the end of the pack that an index belongs to. */
export function packSumOf(index: Buffer): Buffer {
  return index.subarray(-40, -20);
}
