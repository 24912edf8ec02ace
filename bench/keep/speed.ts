/**
 * Measures how long a thousand changes take in a repository of ten thousand files, made for this and removed.
 */

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createBoxedGit } from "@lathe/hosts/tools";
import { type FollowedSession, followHistory, removedBy } from "@lathe/keep-rate";
import { isFailure } from "@lathe/protocol";

const fileCount = 10_000;
const sessionCount = 100;
const editsPerSession = 10;
const hour = 3_600_000;
const start: number = Date.UTC(2026, 0, 5);

const pathOf = (file: number): string => `src/part${file % 100}/file${file}.ts`;

function functionText(name: string): string {
  const lines = Array.from({ length: 10 }, (_, i) => `  const value${i} = ${name}Step${i}(input, ${i});`);
  return `export function ${name}(input: number): void {\n${lines.join("\n")}\n}\n\n`;
}

class Repository {
  readonly root: string = mkdtempSync(join(tmpdir(), "lathe-keep-bench-"));

  git(at: number, ...args: readonly string[]): void {
    const date = `${Math.floor(at / 1000)} +0000`;
    const who = {
      GIT_AUTHOR_NAME: "a",
      GIT_AUTHOR_EMAIL: "a@x",
      GIT_COMMITTER_NAME: "a",
      GIT_COMMITTER_EMAIL: "a@x",
    };
    const env = { PATH: process.env.PATH, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date, ...who };
    execFileSync("git", args, { cwd: this.root, env, stdio: "pipe" });
  }

  read(file: number): string {
    return readFileSync(join(this.root, pathOf(file)), "utf8");
  }

  write(file: number, text: string): void {
    mkdirSync(dirname(join(this.root, pathOf(file))), { recursive: true });
    writeFileSync(join(this.root, pathOf(file)), text);
  }

  /** The files of a session, each with one more function. */
  work(session: number, at: number): FollowedSession {
    const edits = Array.from({ length: editsPerSession }, (_, i) => {
      const file = (session * 97 + i * 1009) % fileCount;
      const before = this.read(file);
      const after = `${functionText(`agent${session}x${i}`)}${before}`;
      this.write(file, after);
      return { at, path: pathOf(file), from: null, before, after };
    });
    return { endedAt: at, edits };
  }

  /** Changes a third of the lines of a session's files, as another author would. */
  change(session: number): void {
    for (let i = 0; i < editsPerSession; i++) {
      const file = (session * 97 + i * 1009) % fileCount;
      const lines = this.read(file).split("\n");
      this.write(
        file,
        lines.map((line, n) => (line !== "" && n % 3 === 0 ? `${line} // ${session}` : line)).join("\n"),
      );
    }
  }
}

export async function measureSpeed(): Promise<void> {
  const repository = new Repository();
  const { root } = repository;
  try {
    repository.git(start, "init", "-q");
    for (let file = 0; file < fileCount; file++)
      repository.write(file, [0, 1, 2].map((part) => functionText(`user${file}x${part}`)).join(""));
    repository.git(start, "add", "-A");
    repository.git(start, "commit", "-qm", "begin");
    const sessions: FollowedSession[] = [];
    for (let session = 0; session < sessionCount; session++) {
      const at = start + session * 2 * hour + hour;
      sessions.push(repository.work(session, at));
      repository.git(at + hour / 4, "commit", "-qam", "an agent's");
      repository.change(session);
      repository.git(at + hour / 2, "commit", "-qam", "somebody's");
    }
    const began = performance.now();
    const git = await createBoxedGit(process.env).open(root);
    if (isFailure(git)) throw new Error(git.text);
    const options = { repository: { root, git }, sessions, withFiles: true };
    const found = await followHistory({ ...options, now: start + 60 * 24 * hour, tip: "HEAD" });
    await git.close();
    const seconds = (performance.now() - began) / 1000;
    const lines = found.flat(2);
    const kept = lines.filter((line) => removedBy(line, line.since + 24 * hour) === undefined).length;
    const changes = sessionCount * editsPerSession;
    console.log(
      `${changes} changes, ${fileCount} files, ${2 * sessionCount} commits: ${seconds.toFixed(1)} s`,
    );
    console.log(`${lines.length} lines, ${((100 * kept) / lines.length).toFixed(1)} % kept for a day`);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
