/** Sample stories: made-up histories of a repository whose truth is known, line by line. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type FollowedSession, followHistory } from "./follow-history.ts";
import {
  createSampler,
  formatLine,
  functionsOf,
  type SampleFile,
  type Sampler,
  sampleText,
} from "./sample-code.ts";
import { removedBy } from "./tracked-line.ts";

const path = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin";
const hour = 3_600_000;
const day = 24 * hour;
const start: number = Date.UTC(2026, 0, 5, 12);
const horizons: readonly number[] = [hour, day, 7 * day, 30 * day];

/** A repository with files whose lines are known, and a session of an agent in it. */
class Ground {
  readonly root: string = mkdtempSync(join(tmpdir(), "lathe-keep-"));
  readonly sampler: Sampler;
  readonly files: Map<string, SampleFile> = new Map();
  at: number = start;
  #session: FollowedSession = { endedAt: 0, edits: [] };
  #agents: SampleFile = [];
  /** Changes of the truth: the agent's lines that are there from a moment on. */
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
    const date = `${Math.floor(this.at / 1000)} +0000`;
    const who = {
      GIT_AUTHOR_NAME: "a",
      GIT_AUTHOR_EMAIL: "a@x",
      GIT_COMMITTER_NAME: "a",
      GIT_COMMITTER_EMAIL: "a@x",
    };
    const env = { PATH: path, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date, ...who };
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

  commit(message: string): void {
    this.write();
    this.git("add", "-A");
    this.git("commit", "-qm", message);
  }

  file(path: string): SampleFile {
    const file = this.files.get(path);
    assert.ok(file);
    return file;
  }

  /** The agent puts functions into two files and makes a third. */
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

  /** Notes what is there now. */
  know(): void {
    const all = new Set([...this.files.values()].flat());
    this.truth.push({ at: this.at, lines: new Set(this.#agents.filter((line) => all.has(line))) });
  }

  /** Somebody changes some of the lines. */
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
    const options = {
      repository: { root: this.root, path },
      sessions: [this.#session],
    };
    const [found = []] = await followHistory({ ...options, now, tip: "HEAD", withFiles: true });
    const lines = found.flat();
    assert.equal(lines.length, this.#agents.length);
    return horizons.map((horizon) => {
      const kept = lines.filter((line) => removedBy(line, this.#session.endedAt + horizon) === undefined);
      return (100 * kept.length) / lines.length;
    });
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

type Story = (ground: Ground) => void;

/** The agent's work is committed, then somebody does something with it three days later, and something else much later. */
const later =
  (what: Story): Story =>
  (ground) => {
    ground.at += 10 * 60_000;
    ground.commit("the agent's work");
    ground.at += 3 * day;
    what(ground);
    ground.commit("what came of it");
    ground.know();
    ground.at += 8 * day;
    ground.change("src/a.js", 0.1);
    ground.change("lib/c.js", 0.2);
    ground.commit("more");
    ground.know();
  };

export const stories: Readonly<Record<string, Story>> = {
  "nothing happens": (ground) => {
    ground.at += hour / 2;
    ground.commit("kept");
    ground.know();
  },
  "some lines are changed": later((ground) => {
    for (const path of ground.files.keys()) ground.change(path, 0.3);
  }),
  "functions move within a file": later((ground) => {
    for (const [path, file] of ground.files) ground.files.set(path, functionsOf(file).reverse().flat());
  }),
  "functions move to other files": later((ground) => {
    const functions = functionsOf(ground.file("src/a.js"));
    const moved = functions.splice(2, 5);
    ground.files.set("src/a.js", functions.flat());
    ground.files.set("lib/c.js", [...moved.flat(), ...ground.file("lib/c.js")]);
  }),
  "files are renamed": later((ground) => {
    for (const path of ["src/a.js", "src/new.js"]) {
      const file = ground.file(path);
      ground.files.delete(path);
      ground.git("rm", "-q", path);
      ground.files.set(path === "src/a.js" ? path : path.replace("src", "other"), file);
    }
    ground.change("other/new.js", 0.15);
  }),
  "everything is reformatted": later((ground) => {
    for (const [path, file] of ground.files) {
      // The same objects: they are the lines they were.
      for (const line of file) line.texts = formatLine(line).texts;
      ground.files.set(path, file);
    }
  }),
  "reformatted, and some lines changed with it": later((ground) => {
    for (const [path, file] of ground.files) {
      for (const line of file) line.texts = formatLine(line).texts;
      ground.files.set(
        path,
        file.map((line) =>
          line.texts.length > 1 || line.texts[0] === "" || ground.sampler.random() < 0.8
            ? line
            : { ...line, texts: [`${line.texts[0]} // ${Math.floor(ground.sampler.random() * 1e9)}`] },
        ),
      );
    }
  }),
  "rebased onto others' work": (ground) => {
    ground.git("checkout", "-q", "-b", "topic");
    ground.at += 10 * 60_000;
    ground.commit("the agent's work");
    ground.at += 2 * day;
    ground.change("src/b.js", 0.3);
    ground.commit("changed on the branch");
    ground.know();
    const topic = new Map(ground.files);
    ground.at += day;
    ground.git("checkout", "-q", "main");
    ground.files.clear();
    ground.files.set("lib/other.js", ground.sampler.sampleFile(5, false));
    ground.commit("others' work");
    ground.at += day;
    ground.git("checkout", "-q", "topic");
    ground.git("rebase", "-q", "main");
    ground.files.clear();
    for (const [path, file] of topic) ground.files.set(path, file);
  },
  "squashed into main": (ground) => {
    ground.git("checkout", "-q", "-b", "topic");
    ground.at += 10 * 60_000;
    ground.commit("the agent's work");
    ground.at += 10 * 60_000;
    ground.change("src/b.js", 0.4);
    ground.commit("review");
    ground.know();
    ground.at += 10 * 60_000;
    ground.git("checkout", "-q", "main");
    ground.git("merge", "-q", "--squash", "topic");
    ground.git("commit", "-qm", "all of it");
    ground.git("branch", "-qD", "topic");
    ground.at += 4 * day;
    ground.change("src/new.js", 0.2);
    ground.commit("later");
    ground.know();
  },
  "merged from a branch": (ground) => {
    ground.git("checkout", "-q", "-b", "topic");
    ground.at += 10 * 60_000;
    ground.commit("the agent's work");
    const topic = ground.git("rev-parse", "HEAD").trim();
    ground.git("checkout", "-q", "main");
    ground.at += 20 * 60_000;
    ground.git("merge", "-q", "--no-ff", "-m", "merge", topic);
    ground.at += 2 * day;
    ground.change("src/new.js", 0.3);
    ground.commit("later");
    ground.know();
  },
  reverted: (ground) => {
    ground.at += 10 * 60_000;
    ground.commit("the agent's work");
    ground.at += 2 * day;
    ground.git("revert", "--no-edit", "HEAD");
    ground.files.clear();
    ground.know();
  },
  "reverted, and taken back in": (ground) => {
    ground.at += 10 * 60_000;
    ground.commit("the agent's work");
    const files = new Map(ground.files);
    ground.at += 2 * day;
    ground.git("revert", "--no-edit", "HEAD");
    ground.files.clear();
    ground.know();
    ground.at += 8 * day;
    ground.git("revert", "--no-edit", "HEAD");
    for (const [path, file] of files) ground.files.set(path, file);
    ground.know();
  },
  "reverted in part": later((ground) => {
    for (const path of ["src/a.js", "src/b.js"]) {
      let i = 0;
      const left = functionsOf(ground.file(path)).filter(([first]) => !(first?.isAgents && i++ % 2));
      ground.files.set(path, left.flat());
    }
  }),
  "copied, and the copy changed": later((ground) => {
    const copied = ground.file("src/new.js").map((line) => ({ ...line, isAgents: false }));
    ground.files.set("src/copy.js", copied);
    ground.change("src/copy.js", 0.3);
  }),
  "copied, and the original changed later": (ground) => {
    ground.at += 10 * 60_000;
    ground.commit("the agent's work");
    ground.at += 2 * day;
    ground.files.set(
      "src/copy.js",
      ground.file("src/new.js").map((line) => ({ ...line })),
    );
    ground.commit("a copy");
    ground.at += 6 * day;
    ground.change("src/new.js", 0.4);
    ground.commit("the original changes");
    ground.know();
  },
  "copied, and the original deleted later": (ground) => {
    ground.at += 10 * 60_000;
    ground.commit("the agent's work");
    ground.at += 2 * day;
    const original = ground.file("src/new.js");
    ground.files.set("src/copy.js", original);
    ground.commit("a copy");
    ground.at += 6 * day;
    ground.files.delete("src/new.js");
    ground.git("rm", "-q", "src/new.js");
    ground.commit("the original goes");
    ground.know();
  },
  "never committed, and changed by hand at once": (ground) => {
    ground.at += 10 * 60_000;
    ground.change("src/a.js", 0.5);
    ground.write();
    ground.know();
  },
  "never committed, moved and renamed": (ground) => {
    ground.at += 10 * 60_000;
    const file = ground.file("src/new.js");
    ground.files.delete("src/new.js");
    renameSync(join(ground.root, "src/new.js"), join(ground.root, "src/moved.js"));
    ground.files.set("src/moved.js", file);
    const functions = functionsOf(ground.file("src/a.js"));
    ground.files.set("src/b.js", [...ground.file("src/b.js"), ...functions.splice(1, 3).flat()]);
    ground.files.set("src/a.js", functions.flat());
    ground.write();
    ground.know();
  },
  "committed in two parts": (ground) => {
    ground.at += 10 * 60_000;
    ground.git("add", "src/a.js");
    ground.git("commit", "-qm", "one");
    ground.at += 2 * day;
    ground.commit("the rest");
    ground.at += 6 * day;
    ground.change("src/b.js", 0.5);
    ground.commit("changed");
    ground.know();
  },
  "thrown away": (ground) => {
    ground.git("checkout", "-q", ".");
    rmSync(join(ground.root, "src/new.js"));
    ground.files.clear();
    ground.know();
  },
};

/** How far what is measured is from the truth, in points, at each horizon; the mean over made-up repositories. */
export async function errorsOf(story: Story, seeds: readonly number[]): Promise<readonly number[]> {
  const errors = horizons.map(() => 0);
  for (const seed of seeds) {
    const ground = new Ground(seed);
    try {
      ground.work();
      story(ground);
      const measured = await ground.measured(start + 60 * day);
      const known = ground.known();
      for (const i of horizons.keys())
        errors[i] = (errors[i] ?? 0) + ((measured[i] ?? 0) - (known[i] ?? 0)) / seeds.length;
    } finally {
      ground.remove();
    }
  }
  return errors;
}
