/** Answers that take many looks at the file system, kept as long as everything they were read from is the same. */
import type { Stats } from "node:fs";
import { statsOf } from "@lathe/system/paths";

/** What an answer was read from, noted while it is found. */
export interface Notes {
  /** The bytes of a file, or the names in a folder; also that there is nothing. */
  readonly content: (path: string) => void;
  /** Only what is at the end of the path, links followed: another one in its place makes the answer old. */
  readonly being: (path: string) => void;
}

export interface Answer<T> {
  readonly value: T;
  /** The same for the same finding; another one each time it was looked for again. */
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

/** *Contract:* `look` notes all it relies on; it throws what it likes, and nothing is kept then. */
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

/** What is noted is stamped before it is read: a change in between makes the answer old, never wrong for good. */
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
