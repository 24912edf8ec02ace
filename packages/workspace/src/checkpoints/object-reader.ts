/** Reads objects through one `git cat-file`, and checks that each has the bytes that its id says. */
import type { ChildProcess } from "node:child_process";
import { type Failure, failure, isFailure } from "@lathe/protocol";
import { decodeTree, type ObjectType, objectId, type TreeEntry, treeOfCommit } from "./git-objects.ts";
import { type Git, spawnGit } from "./run-git.ts";

interface Waiting {
  readonly id: string;
  readonly type: ObjectType;
  readonly resolve: (result: Buffer | Failure) => void;
}

const readerTimeoutMs = 10 * 60_000;

export class ObjectReader {
  readonly #git: Git;
  readonly #isKept: (id: string) => boolean;
  #child: ChildProcess | undefined;
  #waiting: Waiting[] = [];
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** Bytes that have to be there before the next look. */
  #needed = 1;

  /** `isKept` tells an object that is damaged from one that is gone; git calls both missing. */
  constructor(git: Git, isKept: (id: string) => boolean) {
    this.#git = git;
    this.#isKept = isKept;
  }

  /** Any number may be asked for at once; the answers come in that order. */
  read(type: ObjectType, id: string): Promise<Buffer | Failure> {
    return new Promise((resolve) => {
      this.#waiting.push({ id, type, resolve });
      this.#start().stdin?.write(`${id}\n`);
    });
  }

  async tree(id: string): Promise<readonly TreeEntry[] | Failure> {
    const bytes = await this.read("tree", id);
    return isFailure(bytes) ? bytes : (decodeTree(bytes) ?? broken(id));
  }

  /** The id of its tree. */
  async commit(id: string): Promise<string | Failure> {
    const bytes = await this.read("commit", id);
    return isFailure(bytes) ? bytes : (treeOfCommit(bytes) ?? broken(id));
  }

  close(): void {
    this.#child?.stdin?.end();
    this.#child = undefined;
  }

  #start(): ChildProcess {
    if (this.#child) return this.#child;
    const child = spawnGit(this.#git, ["cat-file", "--batch"], { timeoutMs: readerTimeoutMs });
    child.stdin?.on("error", () => undefined);
    child.stdout?.on("data", (chunk: Buffer) => this.#take(chunk));
    child.stderr?.resume();
    const ended = (error?: Error): void => this.#fail(error);
    child.on("error", ended);
    child.on("close", () => ended());
    this.#child = child;
    return child;
  }

  #fail(error: Error | undefined): void {
    this.#child = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#chunks = [];
    this.#bytes = 0;
    this.#needed = 1;
    const text = "The checkpoint store could not be read: git ended early.";
    for (const { resolve } of waiting) resolve(failure("log-corrupt", text, { who: "store", cause: error }));
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

  /** How many bytes were used; 0 when the answer is not there as a whole. */
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
    if (isMissing) asked?.resolve(this.#isKept(id) ? broken(id) : missing(id));
    else asked?.resolve(verified(asked, type, Buffer.from(all.subarray(line + 1, end - 1))));
    return end;
  }
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
  });
}
