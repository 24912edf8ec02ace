/** The lines of a journal, each with a checksum, so that a torn one counts as never written. */
import { createHash } from "node:crypto";

/** The old or new state of a path, in enough detail to distinguish it. */
export type Trace =
  | { readonly type: "absent" }
  | { readonly type: "file"; readonly version: string; readonly mode: number }
  | { readonly type: "link"; readonly target: string }
  | { readonly type: "folder"; readonly mode: number };

/** One path of a change; `kept` is a second name of the previous file or link. */
export interface Entry {
  readonly absolute: string;
  readonly old: Trace;
  readonly new: Trace;
  readonly kept?: string;
}

export type JournalRecord =
  | { readonly type: "owner"; readonly v: 1; readonly owner: string; readonly root: string }
  /** Folders that may contain this journal's temporary files. */
  | { readonly type: "folders"; readonly folders: readonly string[] }
  /** A change to undo unless the record is marked as done. */
  | { readonly type: "change"; readonly entries: readonly Entry[] };

export interface StoredRecord {
  readonly record: JournalRecord;
  readonly isDone: boolean;
  /** The position of `doneMark`. */
  readonly position: number;
}

/** Written over the first byte of a record: it needs no space, so a full disk cannot block it. */
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
