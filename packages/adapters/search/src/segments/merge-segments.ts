/** Merges segments into one, without what is not wanted any more. */
import { Growing } from "../words/growing.ts";
import { chunkMask, encodeSegment, type HeldSegment, idWords, type Segment } from "./segment.ts";

const left = -1;

/** *Contract:* together they have fewer than 2^24 chunks. */
export function mergeSegments(
  segments: readonly Segment[],
  isWanted: (segment: Segment, file: number) => boolean,
): HeldSegment {
  const head = {
    ids: new Growing(),
    languages: new Growing(),
    firstChunks: new Growing(),
    lines: new Growing(),
    offsets: new Growing(),
    lengths: new Growing(),
  };
  const chunkMaps = segments.map((segment) => {
    const chunks = new Int32Array(segment.chunks).fill(left);
    for (let file = 0; file < segment.files; file++) {
      if (!isWanted(segment, file)) continue;
      for (let at = 0; at < idWords; at++) head.ids.push(segment.ids[file * idWords + at] as number);
      head.languages.push(segment.languages[file] as number);
      head.firstChunks.push(head.lines.length);
      const end = segment.firstChunks[file + 1] as number;
      for (let chunk = segment.firstChunks[file] as number; chunk < end; chunk++) {
        chunks[chunk] = head.lines.length;
        head.lines.push(segment.lines[chunk] as number);
        head.offsets.push(segment.offsets[chunk] as number);
        head.lengths.push(segment.lengths[chunk] as number);
      }
    }
    return chunks;
  });
  head.firstChunks.push(head.lines.length);
  return encodeSegment({
    ids: head.ids.items(),
    languages: head.languages.items(),
    firstChunks: head.firstChunks.items(),
    lines: head.lines.items(),
    offsets: head.offsets.items(),
    lengths: head.lengths.items(),
    ...mergedPostings(segments, chunkMaps),
  });
}

interface MergedPostings {
  readonly words: Uint32Array;
  readonly firstPostings: Uint32Array;
  readonly allPostings: Uint32Array;
}

/** Chunks stay in order: those of one segment come behind those of the one before. */
function mergedPostings(segments: readonly Segment[], chunkMaps: readonly Int32Array[]): MergedPostings {
  const [words, firstPostings, allPostings] = [new Growing(), new Growing(), new Growing()];
  const next = segments.map(() => 0);
  for (const word of allWords(segments)) {
    const first = allPostings.length;
    segments.forEach((segment, at) => {
      const place = next[at] as number;
      if (segment.words[place] !== word) return;
      next[at] = place + 1;
      const chunks = chunkMaps[at] as Int32Array;
      for (const posting of segment.postings(place)) {
        const chunk = chunks[posting & chunkMask] as number;
        if (chunk !== left) allPostings.push((posting & ~chunkMask) | chunk);
      }
    });
    if (allPostings.length === first) continue;
    words.push(word);
    firstPostings.push(first);
  }
  firstPostings.push(allPostings.length);
  return {
    words: words.items(),
    firstPostings: firstPostings.items(),
    allPostings: allPostings.items(),
  };
}

/** Each once, ascending. */
function allWords(segments: readonly Segment[]): Uint32Array {
  const all = new Uint32Array(segments.reduce((sum, { words }) => sum + words.length, 0));
  let filled = 0;
  for (const { words } of segments) {
    all.set(words, filled);
    filled += words.length;
  }
  all.sort();
  let kept = 0;
  for (let at = 0; at < all.length; at++) {
    const word = all[at] as number;
    if (kept === 0 || all[kept - 1] !== word) all[kept++] = word;
  }
  return all.subarray(0, kept);
}
