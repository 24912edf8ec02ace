/** CrashDisk: computes the possible states of a disk after a power cut during writes. */
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** The target of a name: a file, a symbolic link with this target, or a folder. */
export type NameTarget = number | string | undefined;

export type FileOperation =
  | { readonly do: "name"; readonly path: string; readonly file: NameTarget }
  | { readonly do: "unname"; readonly path: string }
  | { readonly do: "write"; readonly file: number; readonly bytes: Uint8Array; readonly position: number }
  /** Permissions; they count as durable at once. */
  | { readonly do: "mode"; readonly file: number; readonly mode: number }
  | { readonly do: "sync"; readonly file: number }
  | { readonly do: "sync-folder"; readonly folder: string };

export interface CrashState {
  /** Number of operations done before the cut; unsynced ones may be lost. */
  readonly done: number;
  /** The disk's content, in words. */
  readonly text: string;
  /** Writes the content below `root` into `folder`. */
  readonly materialise: (root: string, folder: string) => void;
}

export interface CrashOptions {
  /**
   * Also yields states between two syncs, losing each folder's names one by one: use it for several folders,
   * and for faults that a `kill -9` shows too.
   */
  readonly everyInstant?: boolean;
  /** Number of operations done before the first state. */
  readonly from?: number;
  /** Maximum number of bytes at which a write is torn; every byte if absent. */
  readonly tears?: number;
}

type Name = Extract<FileOperation, { do: "name" | "unname" }>;
type Write = Extract<FileOperation, { do: "write" }>;

/** One moment: the durable operations, and the pending ones in the order they were issued. */
interface Moment {
  readonly done: number;
  readonly names: readonly { readonly name: Name; readonly isDurable: boolean }[];
  readonly writes: ReadonlyMap<number, readonly Write[]>;
  /** Number of durable writes of each file. */
  readonly synced: ReadonlyMap<number, number>;
  readonly modes: ReadonlyMap<number, number>;
}

/**
 * The model: a file's writes reach the disk in order, and the last may be torn at any byte. A sync makes all
 * earlier writes durable. Names reach the disk in order; syncing a folder makes its names durable. Files are
 * independent: one goes through all its states while the others have lost everything possible, or nothing.
 */
export class CrashDisk {
  readonly #operations: readonly FileOperation[];

  constructor(operations: readonly FileOperation[]) {
    this.#operations = operations;
  }

  /**
   * Yields states before each sync and at the end. If names are only added, states in between have merely
   * lost less.
   */
  *states(options: CrashOptions = {}): Generator<CrashState> {
    for (let done = options.from ?? 0; done <= this.#operations.length; done += 1) {
      const next = this.#operations[done];
      if (options.everyInstant || next === undefined || next.do.startsWith("sync")) {
        yield* statesAt(this.#momentAt(done), options);
      }
    }
  }

  #momentAt(done: number): Moment {
    const names: { name: Name; isDurable: boolean }[] = [];
    const writes = new Map<number, Write[]>();
    const synced = new Map<number, number>();
    const modes = new Map<number, number>();
    for (const operation of this.#operations.slice(0, done)) {
      if (operation.do === "write")
        writes.set(operation.file, [...(writes.get(operation.file) ?? []), operation]);
      else if (operation.do === "sync") synced.set(operation.file, writes.get(operation.file)?.length ?? 0);
      else if (operation.do === "mode") modes.set(operation.file, operation.mode);
      else if (operation.do === "sync-folder") settle(names, operation.folder);
      else names.push({ name: operation, isDurable: false });
    }
    return { done, names, writes, synced, modes };
  }
}

function settle(names: { name: Name; isDurable: boolean }[], folder: string): void {
  for (const one of names) if (dirname(one.name.path) === folder) one.isDurable = true;
}

function* statesAt(moment: Moment, options: CrashOptions): Generator<CrashState> {
  const all = namesAt(moment, isAny);
  yield* contentsAt(moment, { names: all, called: "all names" }, options);
  if (moment.names.every(({ isDurable }) => isDurable)) return;
  const least = namesAt(moment, ({ isDurable }) => isDurable);
  yield* contentsAt(moment, { names: least, called: "durable names only" }, options);
  if (options.everyInstant) yield* partsAt(moment);
}

const isAny = (): boolean => true;

/** One folder keeps its first few pending names; each other folder keeps all of them or none. */
function* partsAt(moment: Moment): Generator<CrashState> {
  const loose = moment.names.filter(({ isDurable }) => !isDurable);
  for (const folder of new Set(loose.map(({ name }) => dirname(name.path)))) {
    const own = loose.filter(({ name }) => dirname(name.path) === folder);
    for (const isRestKept of own.length < loose.length ? [true, false] : [true]) {
      for (let count = 0; count <= own.length; count += 1) {
        const kept = new Set(own.slice(0, count));
        const names = namesAt(moment, (one) =>
          dirname(one.name.path) === folder ? one.isDurable || kept.has(one) : one.isDurable || isRestKept,
        );
        const called = `${count} names of ${folder}, ${isRestKept ? "all" : "no"} others`;
        yield stateOf(
          moment,
          { names, called },
          { kept: () => Number.POSITIVE_INFINITY, text: "everything loose" },
        );
      }
    }
  }
}

interface Chosen {
  readonly names: Names;
  readonly called: string;
}

interface Contents {
  readonly kept: (file: number) => number;
  readonly text: string;
}

function stateOf(moment: Moment, { names, called }: Chosen, { kept, text }: Contents): CrashState {
  return {
    done: moment.done,
    text: `after ${moment.done} operations, ${called}, ${text}`,
    materialise: (root, folder) => materialise({ moment, names, kept }, root, folder),
  };
}

function* contentsAt(moment: Moment, chosen: Chosen, { tears }: CrashOptions): Generator<CrashState> {
  const files = [...new Set(chosen.names.values())].filter((file) => typeof file === "number");
  const loose = files.filter((file) => looseBytes(moment, file) > 0);
  yield stateOf(moment, chosen, { kept: () => 0, text: "nothing loose" });
  if (loose.length > 1) {
    yield stateOf(moment, chosen, { kept: () => Number.POSITIVE_INFINITY, text: "everything loose" });
  }
  for (const file of loose) {
    const others = loose.length > 1 ? [0, Number.POSITIVE_INFINITY] : [0];
    for (const rest of others) {
      for (const bytes of tearsOf(looseBytes(moment, file), tears)) {
        const kept = (one: number): number => (one === file ? bytes : rest);
        yield stateOf(moment, chosen, { kept, text: `${bytes} loose bytes of file ${file}` });
      }
    }
  }
}

/** Tear positions spread over the bytes, always including the last. */
function tearsOf(length: number, most = length): readonly number[] {
  const count = Math.min(length, most);
  return Array.from({ length: count }, (_, i) => Math.ceil(((i + 1) * length) / count));
}

type Names = ReadonlyMap<string, NameTarget>;

function namesAt(moment: Moment, isThere: (name: Moment["names"][number]) => boolean): Names {
  const found = new Map<string, NameTarget>();
  for (const one of moment.names) {
    if (!isThere(one)) continue;
    const { name } = one;
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

interface Materialised {
  readonly moment: Moment;
  readonly names: Names;
  readonly kept: (file: number) => number;
}

/** A file is lost if its folder has lost its name. */
function materialise({ moment, names, kept }: Materialised, root: string, folder: string): void {
  const isFolder = (path: string): boolean =>
    path === root || (names.has(path) && names.get(path) === undefined && isFolder(dirname(path)));
  for (const [path, file] of names) {
    const inside = relative(root, path);
    if (inside === "" || inside.startsWith("..") || !isFolder(dirname(path))) continue;
    mkdirSync(join(folder, file === undefined ? inside : dirname(inside)), { recursive: true });
    if (typeof file === "string") symlinkSync(file, join(folder, inside));
    else if (file !== undefined) {
      writeFileSync(join(folder, inside), contentOf(moment, file, kept(file)));
      const mode = moment.modes.get(file);
      if (mode !== undefined) chmodSync(join(folder, inside), mode);
    }
  }
}
