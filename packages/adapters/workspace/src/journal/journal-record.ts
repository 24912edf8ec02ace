/** The lines of a journal: each with a checksum, so that a torn one counts as never written. */
import { createHash } from "node:crypto";

/** What was or is to be at a path, as far as it takes to tell it from anything else. */
export type Trace =
  | { readonly type: "absent" }
  | { readonly type: "file"; readonly version: string; readonly mode: number }
  | { readonly type: "link"; readonly target: string }
  | { readonly type: "folder"; readonly mode: number };

/** One path of a change; `kept` is another name of the file or link that was there. */
export interface Entry {
  readonly absolute: string;
  readonly old: Trace;
  readonly new: Trace;
  readonly kept?: string;
}

export type JournalRecord =
  | { readonly type: "owner"; readonly v: 1; readonly owner: string; readonly root: string }
  /** Folders in which there may be temporary files of this journal's. */
  | { readonly type: "folders"; readonly folders: readonly string[] }
  /** A change that is to be undone unless the record is marked as done. */
  | { readonly type: "change"; readonly entries: readonly Entry[] };

export interface StoredRecord {
  readonly record: JournalRecord;
  readonly isDone: boolean;
  /** Where `doneMark` goes. */
  readonly position: number;
}

/** Written over the first byte of a record: it takes no space, so it cannot fail for want of it. */
export const doneMark: Uint8Array = Buffer.from("d");

export function encodeRecord(record: JournalRecord): Buffer {
  const json = JSON.stringify(record);
  return Buffer.from(`-${checksum(json)} ${json}\n`);
}

/** The whole records in order. */
export function decodeRecords(bytes: Buffer): readonly StoredRecord[] {
  const found: StoredRecord[] = [];
  for (let position = 0; position < bytes.length; ) {
    const end = bytes.indexOf(10, position);
    if (end < 0) break;
    const record = decode(bytes.toString("utf8", position + 1, end));
    if (record) found.push({ record, isDone: bytes[position] === doneMark[0], position });
    position = end + 1;
  }
  return found;
}

function decode(line: string): JournalRecord | undefined {
  const json = line.slice(checksumLength + 1);
  return line.slice(0, checksumLength) === checksum(json) ? (JSON.parse(json) as JournalRecord) : undefined;
}

const checksumLength = 16;

function checksum(json: string): string {
  return createHash("sha256").update(json).digest("hex").slice(0, checksumLength);
}
