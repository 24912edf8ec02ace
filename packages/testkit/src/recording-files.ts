/** Records file writes, and builds every state that a power cut could have left. */
import { existsSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { CrashDisk, type CrashState, type FileOperation } from "./crash-disk.ts";

/** The operations that change the disk; a port under test may have more. */
export interface RecordableFiles {
  open(path: string, mode: string): number;
  write(fd: number, bytes: Uint8Array): number;
  writeAt(fd: number, bytes: Uint8Array, position: number): void;
  sync(fd: number): void;
  makeFolder(path: string): void;
  syncFolder(folder: string): void;
  rename(from: string, to: string): void;
  remove(path: string): void;
}

export interface Recording<F> {
  /** Works like the original, and records each operation. */
  readonly files: F;
  /** Number of operations recorded so far. */
  readonly count: () => number;
  /** Every state of the disk that a power cut may leave, according to `CrashDisk`. */
  readonly states: () => Generator<CrashState>;
}

/** *Contract:* files already there count as durable. */
export function recordFiles<F extends RecordableFiles>(original: F): Recording<F> {
  const operations: FileOperation[] = [];
  const recorder = new Recorder(original, operations);
  return {
    files: { ...original, ...recorder.methods() },
    count: () => operations.length,
    states: () => new CrashDisk(operations).states(),
  };
}

class Recorder {
  readonly #original: RecordableFiles;
  readonly #operations: FileOperation[];
  readonly #open = new Map<number, number>();
  /** File numbers by path. */
  readonly #files = new Map<string, number>();
  readonly #folders = new Set<string>();
  readonly #lengths: number[] = [];

  constructor(original: RecordableFiles, operations: FileOperation[]) {
    this.#original = original;
    this.#operations = operations;
  }

  methods(): RecordableFiles {
    const original = this.#original;
    return {
      open: (path, mode) => this.#opened(path, mode),
      write: (fd, bytes) => {
        const written = original.write(fd, bytes);
        this.#wrote(fd, bytes.slice(0, written));
        return written;
      },
      writeAt: (fd, bytes, position) => {
        original.writeAt(fd, bytes, position);
        this.#wrote(fd, bytes.slice(), position);
      },
      sync: (fd) => {
        original.sync(fd);
        this.#operations.push({ do: "sync", file: this.#fileOf(fd) });
      },
      makeFolder: (path) => {
        this.#madeFolder(path);
        original.makeFolder(path);
      },
      syncFolder: (folder) => {
        original.syncFolder(folder);
        this.#operations.push({ do: "sync-folder", folder });
      },
      rename: (from, to) => {
        original.rename(from, to);
        const file = this.#files.get(from);
        if (file === undefined) throw new Error(`${from} was not recorded`);
        this.#files.delete(from);
        this.#files.set(to, file);
        this.#operations.push({ do: "name", path: to, file }, { do: "unname", path: from });
      },
      remove: (path) => {
        original.remove(path);
        this.#files.delete(path);
        this.#operations.push({ do: "unname", path });
      },
    };
  }

  #opened(path: string, mode: string): number {
    const known = this.#files.get(path) ?? this.#adopt(path);
    const fd = this.#original.open(path, mode);
    const file = known ?? this.#newFile(path, 0);
    if (known === undefined) this.#operations.push({ do: "name", path, file });
    this.#open.set(fd, file);
    return fd;
  }

  /** A file that existed before the recording. */
  #adopt(path: string): number | undefined {
    if (!existsSync(path)) return undefined;
    this.#adoptFolder(dirname(path));
    const bytes = readFileSync(path);
    const file = this.#newFile(path, bytes.length);
    this.#operations.push({ do: "name", path, file });
    this.#operations.push({ do: "write", file, bytes, position: 0 });
    this.#operations.push({ do: "sync", file }, { do: "sync-folder", folder: dirname(path) });
    return file;
  }

  #adoptFolder(path: string): void {
    if (this.#folders.has(path) || path === dirname(path)) return;
    this.#adoptFolder(dirname(path));
    this.#folders.add(path);
    this.#operations.push(
      { do: "name", path, file: undefined },
      { do: "sync-folder", folder: dirname(path) },
    );
  }

  #newFile(path: string, length: number): number {
    const file = this.#lengths.push(length) - 1;
    this.#files.set(path, file);
    return file;
  }

  #wrote(fd: number, bytes: Uint8Array, at?: number): void {
    const file = this.#fileOf(fd);
    const length = this.#lengths[file] ?? 0;
    const position = at ?? length;
    this.#lengths[file] = Math.max(length, position + bytes.length);
    this.#operations.push({ do: "write", file, bytes, position });
  }

  #madeFolder(path: string): void {
    if (this.#folders.has(path) || existsSync(path)) return;
    this.#madeFolder(dirname(path));
    this.#folders.add(path);
    this.#operations.push({ do: "name", path, file: undefined });
  }

  #fileOf(fd: number): number {
    const file = this.#open.get(fd);
    if (file === undefined) throw new Error(`file ${fd} was not recorded`);
    return file;
  }
}
