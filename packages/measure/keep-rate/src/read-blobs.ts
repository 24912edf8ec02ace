/** Read blobs: runs git on a repository through the port, and reads the contents of many objects at once. */
import { type Failure, failure, isFailure, type OpenRepository } from "@lathe/protocol";

export interface Repository {
  /** The top of the working tree, or a folder without git. */
  readonly root: string;
  readonly git?: OpenRepository;
}

/** The output of git. */
export async function askGit(
  { git }: Repository,
  args: readonly string[],
  index?: "repository",
): Promise<string | Failure> {
  if (!git) return failure("not-found", "there is no git repository", { who: "user" });
  const printed = await git.run(args, index && { index });
  return isFailure(printed) ? printed : textOf(printed);
}

function textOf(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString();
}

/** Limits of one run of git: objects to read, and characters of output to hold. */
const maxAtOnce = 2_000;
const maxHeld = 64 * 1024 * 1024;

export class BlobReader {
  readonly #git: OpenRepository;
  readonly #held = new Map<string, Promise<string | undefined>>();
  #heldSize = 0;
  #asked: { readonly name: string; readonly done: (content: string | undefined) => void }[] = [];

  constructor(git: OpenRepository) {
    this.#git = git;
  }

  /** *Contract:* `name` is an object name or `COMMIT:PATH`; undefined where there is no such object or git fails. */
  read(name: string): Promise<string | undefined> {
    const held = this.#held.get(name);
    if (held !== undefined) return held;
    if (/[\n\0]/.test(name)) return Promise.resolve(undefined);
    if (this.#heldSize > maxHeld) this.#forget();
    const reading = new Promise<string | undefined>((done) => {
      if (this.#asked.length === 0) setImmediate(() => void this.#readAsked());
      this.#asked.push({ name, done });
    });
    this.#held.set(name, reading);
    return reading;
  }

  #forget(): void {
    this.#held.clear();
    this.#heldSize = 0;
  }

  /** Requests made at the same time are read by one run of git. */
  async #readAsked(): Promise<void> {
    const asked = this.#asked;
    this.#asked = [];
    for (let at = 0; at < asked.length; at += maxAtOnce) {
      const some = asked.slice(at, at + maxAtOnce);
      const contents = await this.#contents(some.map(({ name }) => name));
      for (const [i, { done }] of some.entries()) {
        this.#heldSize += contents[i]?.length ?? 0;
        done(contents[i]);
      }
    }
  }

  /** A batch that is too large for one answer is split in halves. */
  async #contents(names: readonly string[]): Promise<readonly (string | undefined)[]> {
    const input = names.map((name) => `${Buffer.from(name).toString("latin1")}\n`).join("");
    const printed = await this.#git.run(["cat-file", "--batch"], { input });
    if (!isFailure(printed)) return contentsIn(printed, names.length);
    if (printed.code !== "too-large" || names.length === 1) return names.map(() => undefined);
    const half = Math.ceil(names.length / 2);
    return [...(await this.#contents(names.slice(0, half))), ...(await this.#contents(names.slice(half)))];
  }
}

/** A name may contain spaces; a missing object has no size. */
const header = /[0-9a-f]+ \w+ (\d+)\n|[^\n]*\n/y;

function contentsIn(printed: string, count: number): readonly (string | undefined)[] {
  const contents: (string | undefined)[] = [];
  let at = 0;
  while (contents.length < count) {
    header.lastIndex = at;
    const found = header.exec(printed);
    if (!found) return [...contents, ...Array.from({ length: count - contents.length }, () => undefined)];
    at = header.lastIndex;
    const size = found[1];
    contents.push(size === undefined ? undefined : textOf(printed.slice(at, at + Number(size))));
    if (size !== undefined) at += Number(size) + 1;
  }
  return contents;
}
