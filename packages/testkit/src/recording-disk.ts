/** Records a workspace's disk operations, and builds every state that a crash could have left. */
import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { join } from "node:path";
import {
  CrashDisk,
  type CrashOptions,
  type CrashState,
  type FileOperation,
  type NameTarget,
} from "./crash-disk.ts";

/** The calls that change the disk; a port under test may have more. */
export interface RecordableDisk {
  write(path: string, bytes: Uint8Array, nature: never): void;
  copy(from: string | Buffer, to: string, nature: never): void;
  writeAt(path: string, bytes: Uint8Array, position: number): void;
  rename(from: string, to: string): void;
  link(from: string, to: string): void;
  symlink(target: string, path: string): void;
  unlink(path: string): void;
  mkdir(path: string, mode: number | undefined): void;
  rmdir(path: string): void;
  chmod(path: string, mode: number): void;
  syncFolder(path: string): void;
}

export interface DiskRecording<D> {
  /** Works like the original, and records each operation. */
  readonly disk: D;
  /** Number of operations recorded so far, including initial content. */
  readonly count: () => number;
  /** Every state of the disk that a crash may leave, according to `CrashDisk`. */
  readonly states: (options?: CrashOptions) => Generator<CrashState>;
}

/** *Contract:* content already below `root` counts as durable; folder permissions are not recorded. */
export function recordDisk<D extends RecordableDisk>(original: D, root: string): DiskRecording<D> {
  const recorder = new DiskRecorder(original, root);
  const from = recorder.operations.length;
  return {
    disk: { ...original, ...recorder.methods() },
    count: () => recorder.operations.length,
    states: (options) => new CrashDisk(recorder.operations).states({ from, ...options }),
  };
}

class DiskRecorder {
  readonly operations: FileOperation[] = [];
  readonly #original: RecordableDisk;
  readonly #names = new Map<string, NameTarget>();
  #files = 0;

  constructor(original: RecordableDisk, root: string) {
    this.#original = original;
    this.#adopt(root);
  }

  methods(): RecordableDisk {
    const original = this.#original;
    return {
      write: (path, bytes, nature) => {
        original.write(path, bytes, nature);
        this.#wrote(path, bytes);
      },
      copy: (from, to, nature) => {
        original.copy(from, to, nature);
        this.#wrote(to, readFileSync(to));
      },
      writeAt: (path, bytes, position) => {
        original.writeAt(path, bytes, position);
        const file = this.#fileAt(path);
        this.operations.push({ do: "write", file, bytes: bytes.slice(), position }, { do: "sync", file });
      },
      rename: (from, to) => {
        original.rename(from, to);
        // If both are names of one file, both stay, as POSIX requires.
        const named = this.#named(from);
        if (typeof named === "number" && named === this.#named(to)) return;
        this.#name(to, named);
        this.#unname(from);
      },
      link: (from, to) => {
        original.link(from, to);
        this.#name(to, this.#named(from));
      },
      symlink: (target, path) => {
        original.symlink(target, path);
        this.#name(path, target);
      },
      unlink: (path) => {
        original.unlink(path);
        this.#unname(path);
      },
      mkdir: (path, mode) => {
        original.mkdir(path, mode);
        this.#name(path, undefined);
      },
      rmdir: (path) => {
        original.rmdir(path);
        this.#unname(path);
      },
      chmod: (path, mode) => {
        original.chmod(path, mode);
        const file = this.#named(path);
        if (typeof file === "number") this.operations.push({ do: "mode", file, mode });
      },
      syncFolder: (folder) => {
        original.syncFolder(folder);
        this.operations.push({ do: "sync-folder", folder: plainPath(folder) });
      },
    };
  }

  #adopt(folder: string): void {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isFile()) this.#wrote(path, readFileSync(path));
      else this.#name(path, entry.isSymbolicLink() ? readlinkSync(path) : undefined);
      if (entry.isDirectory()) this.#adopt(path);
    }
    this.operations.push({ do: "sync-folder", folder });
  }

  #wrote(path: string, bytes: Uint8Array): void {
    const file = this.#files;
    this.#files += 1;
    this.#name(path, file);
    this.operations.push({ do: "mode", file, mode: statSync(path).mode & 0o7777 });
    if (bytes.length > 0) this.operations.push({ do: "write", file, bytes: bytes.slice(), position: 0 });
    this.operations.push({ do: "sync", file });
  }

  #name(reached: string, file: NameTarget): void {
    const path = plainPath(reached);
    this.#names.set(path, file);
    this.operations.push({ do: "name", path, file });
  }

  #unname(reached: string): void {
    const path = plainPath(reached);
    this.#names.delete(path);
    this.operations.push({ do: "unname", path });
  }

  #named(reached: string): NameTarget {
    return this.#names.get(plainPath(reached));
  }

  #fileAt(path: string): number {
    const file = this.#named(path);
    if (typeof file !== "number") throw new Error(`${path} was not recorded`);
    return file;
  }
}

/** For a path through an open folder's descriptor: the folder's current path. */
function plainPath(path: string): string {
  const [, folder, name = ""] = /^(\/proc\/self\/fd\/\d+)(?:\/(.*))?$/.exec(path) ?? [];
  return folder === undefined ? path : join(readlinkSync(folder), name);
}
