/** Git on a user's repository: only read, with nothing of it or of the user run: no hooks, filters, pagers or fetches. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { type Failure, failure } from "@lathe/protocol";
import { noPrograms, noSurroundings } from "@lathe/system/git-settings";

export interface Repository {
  /** A folder in it. */
  readonly root: string;
  /** The variable PATH, where git is looked for. */
  readonly path: string;
}

const timeoutMs = 120_000;

function startGit({ root, path }: Repository, args: readonly string[]): ChildProcessWithoutNullStreams {
  return spawn("git", ["--no-pager", ...noPrograms, ...args], {
    cwd: root,
    env: { PATH: path, LC_ALL: "C", ...noSurroundings },
    windowsHide: true,
  });
}

/** What it prints. */
export function runGit(repository: Repository, args: readonly string[]): Promise<string | Failure> {
  return new Promise((resolve) => {
    const child = startGit(repository, args);
    const timer = setTimeout(() => child.kill("SIGKILL"), timeoutMs);
    const out: Buffer[] = [];
    let said = "";
    child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => {
      said += chunk.toString();
    });
    child.stdin.on("error", () => undefined);
    child.stdin.end();
    const end = (result: string | Failure): void => {
      clearTimeout(timer);
      resolve(result);
    };
    child.on("error", (cause) => end(failure("not-found", "git cannot be run", { who: "host", cause })));
    child.on("close", (status) => {
      if (status === 0) return end(Buffer.concat(out).toString());
      end(failure("not-found", `git ${args[0]} ended with ${status}: ${said.trim()}`, { who: "host" }));
    });
  });
}

/** Reads the contents of objects, many with one process. */
export class BlobReader {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #waiting: ((content: string | undefined) => void)[] = [];
  #chunks: Buffer[] = [];
  #length = 0;
  /** Bytes of the object that is being received, header included; 0 before its header is known. */
  #wanted = 0;
  #header = 0;

  constructor(repository: Repository) {
    this.#child = startGit(repository, ["cat-file", "--batch"]);
    this.#child.stdout.on("data", (chunk: Buffer) => this.#take(chunk));
    this.#child.stdin.on("error", () => undefined);
    const end = (): void => {
      for (const waiting of this.#waiting.splice(0)) waiting(undefined);
    };
    this.#child.on("error", end);
    this.#child.on("close", end);
  }

  /** *Contract:* `name`: of an object, or `COMMIT:PATH`; undefined for what is none, or when git has ended. */
  read(name: string): Promise<string | undefined> {
    if (this.#child.exitCode !== null || /[\n\0]/.test(name)) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#child.stdin.write(`${name}\n`);
    });
  }

  close(): void {
    this.#child.stdin.end();
    this.#child.kill();
  }

  #take(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    while (this.#length > 0 && this.#takeOne());
  }

  /** Whether there may be another one. */
  #takeOne(): boolean {
    if (this.#wanted === 0 && !this.#readHeader()) return false;
    if (this.#length < this.#wanted) return false;
    const bytes = this.#joined();
    const isThere = this.#wanted > this.#header;
    const content = isThere ? bytes.subarray(this.#header, this.#wanted - 1).toString() : undefined;
    this.#chunks = [bytes.subarray(this.#wanted)];
    this.#length -= this.#wanted;
    this.#wanted = 0;
    this.#waiting.shift()?.(content);
    return true;
  }

  #readHeader(): boolean {
    const bytes = this.#joined();
    const end = bytes.indexOf(10);
    if (end < 0) return false;
    // A name may have spaces; what is missing has no size.
    const found = /^[0-9a-f]+ \w+ (\d+)$/.exec(bytes.subarray(0, end).toString());
    this.#header = end + 1;
    this.#wanted = this.#header + (found ? Number(found[1]) + 1 : 0);
    return true;
  }

  #joined(): Buffer {
    const [first = Buffer.alloc(0)] = this.#chunks;
    const whole = this.#chunks.length > 1 ? Buffer.concat(this.#chunks) : first;
    this.#chunks = [whole];
    return whole;
  }
}
