/**
 * Tests devices and pipes in the place of files that Lathe reads at its start: they fill no memory and block
 * nothing.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { Running } from "../lathe.ts";
import { type HostilePlace, openHostilePlace } from "./hostile-place.ts";

/** The files of a group exist at the same time; one that breaks the repository is alone. */
const groups: readonly (readonly string[])[] = [
  [".git/config"],
  [".git/HEAD"],
  [".git/index"],
  [
    ...[
      ".git/packed-refs",
      ".git/info/exclude",
      ".git/info/attributes",
      ".git/config.worktree",
      ".git/shallow",
    ],
    ...[".git/logs/HEAD", ".git/objects/info/alternates", ".gitmodules", ".gitattributes"],
  ],
  [".gitignore", ".latheignore", ".ignore", "AGENTS.md", "lathe.json", ".npmrc", ".cargo/config.toml"],
  ["tsconfig.json", "package.json", "biome.json", "eslint.config.js"],
  ["Cargo.toml", "go.mod", "pyproject.toml"],
];
const patience = { timeout: 60_000 };
const maxMemory = 1.5e9;

const pipe = "a pipe that nobody writes to";
const kinds: Readonly<Record<string, (path: string) => void>> = {
  "B9: a link to an endless device": (path) => symlinkSync("/dev/zero", path),
  [pipe]: (path) => void execFileSync("mkfifo", [path]),
};

for (const [kind, make] of Object.entries(kinds)) {
  describe(kind, () => {
    let at: HostilePlace;
    let running: Running | undefined;
    beforeEach(async () => {
      at = await openHostilePlace();
      at.put("a.ts", "export const a = 1;\n");
      at.git("init", "-q", "-b", "main");
      at.git("add", "-A");
      at.git("commit", "-qm", "first");
    });
    afterEach(async () => {
      running?.child.kill("SIGKILL");
      await at.close();
    });

    const assertEnds = async (args: readonly string[]): Promise<void> => {
      // A pipe cannot fill the memory of this process.
      if (kind === pipe) return void (await at.run(args));
      running = at.start(args);
      const memory = watchMemory(running);
      const { signal } = await running.ended;
      assert.deepEqual([signal, memory.isTooMuch()], [null, false]);
    };

    for (const group of groups) {
      it(`does not block as ${group.join(", ")}`, patience, async () => {
        for (const name of group) {
          const path = join(at.workspace, name);
          mkdirSync(dirname(path), { recursive: true });
          rmSync(path, { force: true });
          make(path);
        }
        at.answers(["write", { path: "b.ts", content: "export const b = 1;\n" }]);
        await assertEnds(["run", "hello"]);
      });
    }

    it("does not block a worktree as .git/config", patience, async () => {
      const path = join(at.workspace, ".git/config");
      rmSync(path);
      make(path);
      await assertEnds(["run", "--no-sandbox", "--worktree", "hello"]);
    });

    it("does not block a fork as .git/index", patience, async () => {
      const path = join(at.workspace, ".git/index");
      rmSync(path);
      make(path);
      await assertEnds(["run", "--fork", "--keep", "hello"]);
    });
  });
}

/** Kills a process that uses too much memory, before the machine does. */
function watchMemory({ child, ended }: Running): { isTooMuch(): boolean } {
  let isTooMuch = false;
  const timer = setInterval(() => {
    if (residentBytes(child.pid) < maxMemory) return;
    isTooMuch = true;
    child.kill("SIGKILL");
  }, 20);
  void ended.then(() => clearInterval(timer));
  return { isTooMuch: () => isTooMuch };
}

function residentBytes(pid: number | undefined): number {
  try {
    const [, kilobytes = "0"] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Number(kilobytes) * 1024;
  } catch {
    // The process has ended.
    return 0;
  }
}
