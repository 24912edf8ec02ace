/** Reads objects through one `git cat-file`, and checks that each one's bytes match its id. */
import { type Failure, failure, isFailure } from "@lathe/protocol";
import { decodeTree, type ObjectType, objectId, type TreeEntry, treeOfCommit } from "./git-objects.ts";
import { cancelled } from "./pace.ts";
import { type Git, type GitProcess, startGit } from "./run-git.ts";

interface Waiting {
  readonly id: string;
  readonly type: ObjectType;
  readonly resolve: (result: Buffer | Failure) => void;
}

export interface ReaderOptions {
  readonly git: Git;
  /** Distinguishes a damaged object from a missing one; git calls both missing. */
  readonly isKept: (id: string) => boolean;
  /** The bytes of a tree that need not be read. */
  readonly recentTree?: (id: string) => Buffer | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

const defaultTimeoutMs = 10 * 60_000;

export class ObjectReader {
  readonly #options: ReaderOptions;
  #process: GitProcess | undefined;
  #waiting: Waiting[] = [];
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** Number of bytes needed before the next look. */
  #needed = 1;

  constructor(options: ReaderOptions) {
    this.#options = options;
  }

  /** Any number may be requested at once; answers come in the same order. */
  read(type: ObjectType, id: string): Promise<Buffer | Failure> {
    return new Promise((resolve) => {
      if (this.#options.signal?.aborted) return resolve(cancelled());
      this.#waiting.push({ id, type, resolve });
      this.#start().child.stdin?.write(`${id}\n`);
    });
  }

  async tree(id: string): Promise<readonly TreeEntry[] | Failure> {
    const bytes = this.#options.recentTree?.(id) ?? (await this.read("tree", id));
    return isFailure(bytes) ? bytes : (decodeTree(bytes) ?? broken(id));
  }

  /** The id of its tree. */
  async commit(id: string): Promise<string | Failure> {
    const bytes = await this.read("commit", id);
    return isFailure(bytes) ? bytes : (treeOfCommit(bytes) ?? broken(id));
  }

  close(): void {
    this.#process?.child.stdin?.end();
    this.#process = undefined;
  }

  #start(): GitProcess {
    if (this.#process) return this.#process;
    const { git, signal, timeoutMs = defaultTimeoutMs } = this.#options;
    const started = startGit(git, ["cat-file", "--batch"], { timeoutMs, signal });
    const { child, stopped } = started;
    child.stdin?.on("error", () => undefined);
    child.stdout?.on("data", (chunk: Buffer) => this.#take(chunk));
    child.stderr?.resume();
    const ended = (error?: Error): void => this.#fail(stopped() ?? endedEarly(error));
    child.on("error", ended);
    child.on("close", () => ended());
    this.#process = started;
    return started;
  }

  #fail(failed: Failure): void {
    this.#process = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#chunks = [];
    this.#bytes = 0;
    this.#needed = 1;
    for (const { resolve } of waiting) resolve(failed);
  }

  #take(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    while (this.#bytes >= this.#needed && this.#waiting.length > 0) {
      const all = this.#chunks.length === 1 ? (this.#chunks[0] ?? chunk) : Buffer.concat(this.#chunks);
      const used = this.#answer(all);
      this.#chunks = [all.subarray(used)];
      this.#bytes = all.length - used;
      if (used === 0) return;
    }
  }

  /** The number of bytes used; 0 if the answer is incomplete. */
  #answer(all: Buffer): number {
    const line = all.indexOf(0x0a);
    if (line < 0) {
      this.#needed = all.length + 1;
      return 0;
    }
    const [id = "", type, size] = all.toString("latin1", 0, line).split(" ");
    const isMissing = size === undefined;
    const end = isMissing ? line + 1 : line + 1 + Number(size) + 1;
    if (all.length < end) {
      this.#needed = end;
      return 0;
    }
    this.#needed = 1;
    const asked = this.#waiting.shift();
    if (isMissing) asked?.resolve(this.#options.isKept(id) ? broken(id) : missing(id));
    else asked?.resolve(verified(asked, type, Buffer.from(all.subarray(line + 1, end - 1))));
    return end;
  }
}

function endedEarly(cause: Error | undefined): Failure {
  const text = "The checkpoint store could not be read: git ended early.";
  return failure("no-access", text, { who: "store", retry: "same", cause });
}

function verified({ id, type }: Waiting, found: string | undefined, bytes: Buffer): Buffer | Failure {
  return found === type && objectId(type, bytes) === id ? bytes : broken(id);
}

function missing(id: string): Failure {
  return failure("not-found", `Checkpoint ${id.slice(0, 12)} is not in the store any more.`, {
    who: "store",
  });
}

function broken(id: string): Failure {
  return failure("log-corrupt", `The checkpoint store is damaged: object ${id} is not what it was.`, {
    who: "store",
    retry: "same",
  });
}
