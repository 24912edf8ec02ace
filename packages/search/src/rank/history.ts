/** History: which files the commits touched whose messages are like a query. */
import { decodeSegment, wordAt } from "../segments/segment.ts";
import { SegmentBuilder } from "../segments/segment-builder.ts";
import { type Documents, type OpenSegment, openSegment } from "../tree/documents.ts";
import type { Commit } from "./git-log.ts";
import type { QueryWord } from "./query.ts";

/** Some commits: an index of their messages, and the files of each. */
export interface HistoryPart {
  readonly messages: OpenSegment;
  readonly paths: readonly string[];
  /** Where the files of each commit begin, and their number. */
  readonly firstPaths: readonly number[];
  readonly pathIds: readonly number[];
}

/** Commits that vote. */
const voters = 100;
/** A commit that touched more says little of any. */
const manyPaths = 40;
const noId = "0".repeat(40);

export function historyPart(commits: readonly Commit[]): HistoryPart {
  const builder = new SegmentBuilder();
  const ids = new Map<string, number>();
  const firstPaths: number[] = [];
  const pathIds: number[] = [];
  for (const { message, paths } of commits) {
    builder.add({ id: noId, language: "text", bytes: Buffer.from(message.slice(0, 8000)) });
    firstPaths.push(pathIds.length);
    for (const path of paths.length > manyPaths ? [] : paths) {
      const id = ids.get(path) ?? ids.size;
      ids.set(path, id);
      pathIds.push(id);
    }
  }
  firstPaths.push(pathIds.length);
  return { messages: openSegment(builder.finish()), paths: [...ids.keys()], firstPaths, pathIds };
}

/** What history says of documents, 1 for the one it says most of. */
export function votesOf(
  parts: readonly HistoryPart[],
  words: readonly QueryWord[],
  documents: Documents,
): ReadonlyMap<number, number> {
  const votes = new Map<number, number>();
  const best = parts.flatMap((part) => bestCommits(part, words, parts)).sort((a, b) => b.score - a.score);
  for (const { part, commit, score } of best.slice(0, voters)) {
    const first = part.firstPaths[commit] as number;
    const end = part.firstPaths[commit + 1] as number;
    const share = score ** 2 / Math.sqrt(end - first || 1);
    for (let at = first; at < end; at++) {
      const doc = documents.byPath.get(part.paths[part.pathIds[at] as number] as string);
      if (doc !== undefined) votes.set(doc, (votes.get(doc) ?? 0) + share);
    }
  }
  const most = Math.max(...votes.values(), 0);
  return new Map([...votes].map(([doc, vote]) => [doc, vote / most]));
}

interface LikeCommit {
  readonly part: HistoryPart;
  readonly commit: number;
  readonly score: number;
}

const k1 = 1.2;
const b = 0.5;
const meanWords = 40;

function bestCommits(
  part: HistoryPart,
  words: readonly QueryWord[],
  parts: readonly HistoryPart[],
): readonly LikeCommit[] {
  const { segment, fileOfChunk, lengths } = part.messages;
  const scores = new Float64Array(segment.files);
  const total = parts.reduce((sum, { messages }) => sum + messages.segment.files, 0);
  for (const { hash, weight } of words) {
    const place = wordAt(segment, hash);
    if (place < 0 || weight === 0) continue;
    const rarity = rarityOf(parts, hash, total) * weight;
    const end = segment.firstPostings[place + 1] as number;
    for (let at = segment.firstPostings[place] as number; at < end; at++) {
      const commit = fileOfChunk[segment.postingChunks[at] as number] as number;
      const count = (segment.postingCounts[at] as number) & 63;
      const norm = k1 * (1 - b + (b * (lengths[commit] as number)) / meanWords);
      scores[commit] = (scores[commit] as number) + (rarity * count * (k1 + 1)) / (count + norm);
    }
  }
  return topOf(scores).map((commit) => ({ part, commit, score: scores[commit] as number }));
}

function rarityOf(parts: readonly HistoryPart[], hash: number, total: number): number {
  let having = 0;
  for (const { messages } of parts) {
    const place = wordAt(messages.segment, hash);
    const { firstPostings } = messages.segment;
    if (place >= 0) having += (firstPostings[place + 1] as number) - (firstPostings[place] as number);
  }
  return Math.log(1 + (total - having + 0.5) / (having + 0.5));
}

function topOf(scores: Float64Array): readonly number[] {
  const found: number[] = [];
  const least = scores.length > voters ? (scores.toSorted()[scores.length - voters] as number) : 0;
  for (let at = 0; at < scores.length; at++) {
    const score = scores[at] as number;
    if (score > 0 && score >= least) found.push(at);
  }
  return found;
}

interface Kept {
  readonly head: string;
  readonly parts: readonly (Omit<HistoryPart, "messages"> & { readonly bytes: number })[];
}

/** As bytes of a file: the length of a description, the description, and the segments behind it, all aligned. */
export function encodeHistory(head: string, parts: readonly HistoryPart[]): Uint8Array {
  const kept: Kept = {
    head,
    parts: parts.map(({ messages, ...rest }) => ({ ...rest, bytes: messages.segment.bytes.length })),
  };
  const text = JSON.stringify(kept);
  const json = Buffer.from(text + " ".repeat((4 - (Buffer.byteLength(text) % 4)) % 4));
  const length = new Uint8Array(Uint32Array.of(json.length).buffer);
  return Buffer.concat([length, json, ...parts.map(({ messages }) => messages.segment.bytes)]);
}

/** Undefined for bytes that are torn or of another version. */
export function decodeHistory(
  bytes: Uint8Array,
): { readonly head: string; readonly parts: readonly HistoryPart[] } | undefined {
  try {
    const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
    const kept = JSON.parse(Buffer.from(bytes.subarray(4, 4 + length)).toString("utf8")) as Kept;
    const parts: HistoryPart[] = [];
    let at = 4 + length;
    for (const { bytes: size, ...rest } of kept.parts) {
      const segment = decodeSegment(Uint8Array.from(bytes.subarray(at, at + size)));
      if (!segment) return undefined;
      parts.push({ messages: openSegment(segment), ...rest });
      at += size;
    }
    return { head: kept.head, parts };
  } catch {
    return undefined;
  }
}
