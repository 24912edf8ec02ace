/** CrashDisk: which states of a disk are possible when the power is cut while it is being written to. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

export type FileOperation =
  /** A name in a folder; without a file it names a folder. */
  | { readonly do: "name"; readonly path: string; readonly file: number | undefined }
  | { readonly do: "unname"; readonly path: string }
  | { readonly do: "write"; readonly file: number; readonly bytes: Uint8Array; readonly position: number }
  | { readonly do: "sync"; readonly file: number }
  | { readonly do: "sync-folder"; readonly folder: string };

export interface CrashState {
  /** The operations that had been done, of which it may have lost those that were not synced. */
  readonly done: number;
  /** What is on the disk, in words. */
  readonly text: string;
  /** Writes what is below `root` into `folder`. */
  readonly materialise: (root: string, folder: string) => void;
}

type Name = Extract<FileOperation, { do: "name" | "unname" }>;
type Write = Extract<FileOperation, { do: "write" }>;

/** One moment: what is durable, and what is on its way in the order in which it was asked for. */
interface Moment {
  readonly done: number;
  readonly names: readonly { readonly name: Name; readonly isDurable: boolean }[];
  readonly writes: ReadonlyMap<number, readonly Write[]>;
  /** How many writes of a file are durable. */
  readonly synced: ReadonlyMap<number, number>;
}

/**
 * The model: a file's writes reach the disk in order, the last of them torn at any byte; a sync makes all before it
 * durable. Names reach it in order; syncing a folder makes its own durable. Files are independent of each other: one
 * of them goes through all its states while the others have lost everything they could, or nothing.
 */
export class CrashDisk {
  readonly #operations: readonly FileOperation[];

  constructor(operations: readonly FileOperation[]) {
    this.#operations = operations;
  }

  /** States before each sync and at the end; those between differ only in having lost less. */
  *states(): Generator<CrashState> {
    for (let done = 0; done <= this.#operations.length; done += 1) {
      const next = this.#operations[done];
      if (next === undefined || next.do.startsWith("sync")) yield* statesAt(this.#momentAt(done));
    }
  }

  #momentAt(done: number): Moment {
    const names: { name: Name; isDurable: boolean }[] = [];
    const writes = new Map<number, Write[]>();
    const synced = new Map<number, number>();
    for (const operation of this.#operations.slice(0, done)) {
      if (operation.do === "write")
        writes.set(operation.file, [...(writes.get(operation.file) ?? []), operation]);
      else if (operation.do === "sync") synced.set(operation.file, writes.get(operation.file)?.length ?? 0);
      else if (operation.do === "sync-folder") settle(names, operation.folder);
      else names.push({ name: operation, isDurable: false });
    }
    return { done, names, writes, synced };
  }
}

function settle(names: { name: Name; isDurable: boolean }[], folder: string): void {
  for (const one of names) if (dirname(one.name.path) === folder) one.isDurable = true;
}

function* statesAt(moment: Moment): Generator<CrashState> {
  const all = namesAt(moment, true);
  const least = namesAt(moment, false);
  const isNamed = moment.names.every(({ isDurable }) => isDurable);
  yield* contentsAt(moment, all, "all names");
  if (!isNamed) yield* contentsAt(moment, least, "durable names only");
}

function* contentsAt(moment: Moment, names: Names, called: string): Generator<CrashState> {
  const files = [...new Set(names.values())].filter((file) => file !== undefined);
  const loose = files.filter((file) => looseBytes(moment, file) > 0);
  const state = (kept: (file: number) => number, text: string): CrashState => ({
    done: moment.done,
    text: `after ${moment.done} operations, ${called}, ${text}`,
    materialise: (root, folder) => materialise({ moment, names, kept }, root, folder),
  });
  yield state(() => 0, "nothing loose");
  if (loose.length > 1) yield state(() => Number.POSITIVE_INFINITY, "everything loose");
  for (const file of loose) {
    const others = loose.length > 1 ? [0, Number.POSITIVE_INFINITY] : [0];
    for (const rest of others) {
      for (let bytes = 1; bytes <= looseBytes(moment, file); bytes += 1)
        yield state((one) => (one === file ? bytes : rest), `${bytes} loose bytes of file ${file}`);
    }
  }
}

type Names = ReadonlyMap<string, number | undefined>;

function namesAt(moment: Moment, withLoose: boolean): Names {
  const found = new Map<string, number | undefined>();
  for (const { name, isDurable } of moment.names) {
    if (!isDurable && !withLoose) continue;
    if (name.do === "unname") found.delete(name.path);
    else found.set(name.path, name.file);
  }
  return found;
}

function looseBytes({ writes, synced }: Moment, file: number): number {
  const loose = (writes.get(file) ?? []).slice(synced.get(file) ?? 0);
  return loose.reduce((sum, { bytes }) => sum + bytes.length, 0);
}

function contentOf({ writes, synced }: Moment, file: number, kept: number): Buffer {
  const all = writes.get(file) ?? [];
  const durable = synced.get(file) ?? 0;
  const content = Buffer.alloc(Math.max(0, ...all.map(({ position, bytes }) => position + bytes.length)));
  let length = 0;
  let left = kept;
  for (const [index, { bytes, position }] of all.entries()) {
    const part = index < durable ? bytes : bytes.subarray(0, left);
    if (index >= durable) left -= part.length;
    if (part.length === 0) continue;
    content.set(part, position);
    length = Math.max(length, position + part.length);
  }
  return content.subarray(0, length);
}

interface Chosen {
  readonly moment: Moment;
  readonly names: Names;
  readonly kept: (file: number) => number;
}

/** A file whose folder has lost its name is lost with it. */
function materialise({ moment, names, kept }: Chosen, root: string, folder: string): void {
  const isReachable = (path: string): boolean =>
    path === root || (names.has(path) && isReachable(dirname(path)));
  for (const [path, file] of names) {
    const inside = relative(root, path);
    if (inside.startsWith("..") || !isReachable(path)) continue;
    if (file === undefined) mkdirSync(join(folder, inside), { recursive: true });
    else {
      mkdirSync(join(folder, dirname(inside)), { recursive: true });
      writeFileSync(join(folder, inside), contentOf(moment, file, kept(file)));
    }
  }
}
