/** Sample ground: an artificial repository whose lines are known, with an agent's session in it. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { OpenRepository } from "@lathe/protocol";
import { type FollowedSession, followHistory } from "./follow-history.ts";
import { createSampler, functionsOf, type SampleFile, type Sampler, sampleText } from "./sample-code.ts";
import { removedBy } from "./tracked-line.ts";

const path = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin";
export const hour = 3_600_000;
export const day: number = 24 * hour;
export const start: number = Date.UTC(2026, 0, 5, 12);
export const horizons: readonly number[] = [hour, day, 7 * day, 30 * day];

export class Ground {
  readonly root: string = mkdtempSync(join(tmpdir(), "lathe-keep-"));
  readonly sampler: Sampler;
  readonly files: Map<string, SampleFile> = new Map();
  at: number = start;
  #session: FollowedSession = { endedAt: 0, edits: [] };
  #agents: SampleFile = [];
  /** The known truth: the agent's lines that exist from each time on. */
  readonly truth: { at: number; lines: ReadonlySet<object> }[] = [];

  constructor(seed: number) {
    this.sampler = createSampler(seed);
    this.git("init", "-q", "-b", "main");
    for (const name of ["src/a.js", "src/b.js", "lib/c.js"])
      this.files.set(name, this.sampler.sampleFile(6, false));
    this.commit("begin");
    this.at += hour;
  }

  git(...args: readonly string[]): string {
    return this.#gitAt(this.at, args);
  }

  #gitAt(writtenAt: number, args: readonly string[]): string {
    const [written, date] = [writtenAt, this.at].map((at) => `${Math.floor(at / 1000)} +0000`);
    const who = {
      GIT_AUTHOR_NAME: "a",
      GIT_AUTHOR_EMAIL: "a@x",
      GIT_COMMITTER_NAME: "a",
      GIT_COMMITTER_EMAIL: "a@x",
    };
    const env = { PATH: path, GIT_AUTHOR_DATE: written, GIT_COMMITTER_DATE: date, ...who };
    const quiet = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1", GIT_EDITOR: "true" };
    return execFileSync("git", args, {
      cwd: this.root,
      env: { ...env, ...quiet },
      stdio: ["ignore", "pipe", "pipe"],
    }).toString();
  }

  write(): void {
    for (const [path, file] of this.files) {
      mkdirSync(dirname(join(this.root, path)), { recursive: true });
      writeFileSync(join(this.root, path), sampleText(file));
    }
  }

  /** `writtenAt` is the author date of a commit that is rewritten now. */
  commit(message: string, writtenAt: number = this.at): void {
    this.write();
    this.git("add", "-A");
    this.#gitAt(writtenAt, ["commit", "-qm", message]);
  }

  file(path: string): SampleFile {
    const file = this.files.get(path);
    assert.ok(file);
    return file;
  }

  /** The agent adds functions to two files and makes a third. */
  work(): void {
    const edits = ["src/a.js", "src/b.js", "src/new.js"].map((path) => {
      const old = this.files.get(path);
      const before = old ? sampleText(old) : null;
      const functions = old ? functionsOf(old) : [];
      for (let i = 0; i < 4; i++) {
        const place = Math.floor(this.sampler.random() * (functions.length + 1));
        functions.splice(place, 0, this.sampler.sampleFunction(true));
      }
      this.files.set(path, functions.flat());
      return { at: this.at, path, from: null, before, after: sampleText(functions.flat()) };
    });
    this.#session = { endedAt: this.at, edits };
    this.#agents = [...this.files.values()].flat().filter((line) => line.isAgents && line.texts[0] !== "");
    this.write();
    this.know();
  }

  /** Records the lines that exist now. */
  know(): void {
    const all = new Set([...this.files.values()].flat());
    this.truth.push({ at: this.at, lines: new Set(this.#agents.filter((line) => all.has(line))) });
  }

  /** A person changes some of the lines. */
  change(path: string, share: number): void {
    const changed = (text: string): string => {
      const number = Math.floor(this.sampler.random() * 1e9);
      const word = /[a-z]{4,}/i.exec(text)?.[0];
      const isReplaced = word !== undefined && this.sampler.random() < 0.5;
      return isReplaced ? text.replace(word, `${word}${number}`) : `${text} // ${number} reviewed`;
    };
    const file = this.file(path).map((line) => {
      if (line.texts[0] === "" || this.sampler.random() >= share) return line;
      return { ...line, texts: [changed(line.texts[0] ?? "")] };
    });
    this.files.set(path, file);
  }

  async measured(now: number): Promise<readonly number[]> {
    const options = { repository: { root: this.root, git: this.#port() }, sessions: [this.#session] };
    const [found = []] = await followHistory({ ...options, now, tip: "HEAD", withFiles: true });
    const lines = found.flat();
    assert.equal(lines.length, this.#agents.length);
    return horizons.map((horizon) => {
      const kept = lines.filter((line) => removedBy(line, this.#session.endedAt + horizon) === undefined);
      return (100 * kept.length) / lines.length;
    });
  }

  #port(): OpenRepository {
    return {
      top: this.root,
      tip: () => undefined,
      headMoves: () => "",
      run: async (args, { input = "" } = {}) => {
        const env = { PATH: path, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
        const options = { cwd: this.root, env, encoding: "latin1", maxBuffer: 2 ** 28 } as const;
        return execFileSync("git", args, { ...options, input: Buffer.from(input, "latin1") });
      },
      close: async () => undefined,
    };
  }

  known(): readonly number[] {
    return horizons.map((horizon) => {
      const last = this.truth.findLast(({ at }) => at <= this.#session.endedAt + horizon);
      return (100 * (last?.lines.size ?? 0)) / this.#agents.length;
    });
  }

  remove(): void {
    rmSync(this.root, { recursive: true });
  }
}
