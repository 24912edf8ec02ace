/** Caches answers that need many file system reads, as long as everything they were read from is the same. */
import type { Stats } from "node:fs";
import { statsOf } from "@lathe/system/paths";

/** Records the paths that an answer was read from, while it is computed. */
export interface Notes {
  /** The bytes of a file, or the names in a folder; also its absence. */
  readonly content: (path: string) => void;
  /** Only the file at the end of the path, links followed: another one in its place expires the answer. */
  readonly being: (path: string) => void;
}

export interface Answer<T> {
  readonly value: T;
  /** Stays the same for the same result; changes each time the answer is computed again. */
  readonly version: number;
}

interface Kept<T> extends Answer<T> {
  readonly seen: readonly Seen[];
  readonly isSettled: boolean;
}

interface Seen {
  readonly path: string;
  readonly stampOf: (stats: Stats) => string;
  readonly stamp: string;
}

/** Two changes within one tick of the kernel's clock may have the same time. */
const tickMs = 20;
const maxKept = 16;
let versions = 0;

/** *Contract:* `look` notes everything it relies on; it may throw, and then nothing is cached. */
export function keepAnswers<T>(): (key: string, look: (notes: Notes) => T) => Answer<T> {
  const answers = new Map<string, Kept<T>>();
  return (key, look) => {
    const known = answers.get(key);
    if (known?.isSettled && known.seen.every(isSame)) return known;
    answers.delete(key);
    const found = find(look);
    const [oldest] = answers.keys();
    if (answers.size >= maxKept && oldest !== undefined) answers.delete(oldest);
    answers.set(key, found);
    return found;
  };
}

/** Paths are stamped before they are read: a change in between only makes the answer expire early. */
function find<T>(look: (notes: Notes) => T): Kept<T> {
  const seen = new Map<string, Seen>();
  let youngest = 0;
  const note = (path: string, isContent: boolean): void => {
    const noted = seen.get(path);
    if (noted && (!isContent || noted.stampOf === contentStamp)) return;
    const stats = statsOf(path);
    const stampOf = isContent ? contentStamp : beingStamp;
    if (isContent && stats) youngest = Math.max(youngest, stats.ctimeMs);
    seen.set(path, { path, stampOf, stamp: stats ? stampOf(stats) : "" });
  };
  const value = look({ content: (path) => note(path, true), being: (path) => note(path, false) });
  const isSettled = Date.now() - youngest > tickMs;
  return { value, version: ++versions, seen: [...seen.values()], isSettled };
}

function isSame({ path, stampOf, stamp }: Seen): boolean {
  const stats = statsOf(path);
  return (stats ? stampOf(stats) : "") === stamp;
}

function contentStamp({ dev, ino, size, mode, ctimeMs }: Stats): string {
  return `${dev} ${ino} ${size} ${mode} ${ctimeMs}`;
}

function beingStamp({ dev, ino, mode }: Stats): string {
  return `${dev} ${ino} ${mode}`;
}
