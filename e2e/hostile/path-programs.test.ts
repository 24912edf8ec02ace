/**
 * Tests that programs are found outside the workspace: a repository's program of the same name runs only in
 * the sandbox.
 */
import assert from "node:assert/strict";
import { chmodSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { type HostilePlace, openHostilePlace } from "./hostile-place.ts";

/** The programs that Lathe, git and the sandbox start by name. */
const programs = [
  ...["git", "rg", "node", "npx", "npm", "bwrap", "cc", "gcc", "sh", "bash", "cp", "python3", "rmdir"],
  ...["tsc", "pyright", "ruff", "wl-copy", "xclip", "prlimit", "newuidmap", "unshare", "socat", "ssh"],
];

/** The PATH of the tests, after the workspace's folder. */
const rest = (): string =>
  (process.env.PATH ?? "")
    .split(delimiter)
    .filter((folder) => !folder.includes("node_modules"))
    .join(delimiter);

const ways: readonly (readonly [string, (workspace: string) => string])[] = [
  ["B14: a relative entry", () => "node_modules/.bin"],
  [
    "an absolute entry inside the workspace, as npx and npm run make one",
    (at) => join(at, "node_modules/.bin"),
  ],
  [
    "an entry that leads back into the workspace",
    (at) => `${join(at, "..")}/./workspace/../workspace/node_modules/.bin`,
  ],
  ["an empty entry", () => ""],
];

describe("PATH", () => {
  let at: HostilePlace;
  beforeEach(async () => {
    at = await openHostilePlace();
    at.put("a.ts", "export const a = 1;\n");
    at.put("package.json", '{"scripts":{"test":"node -e 0"}}');
    at.git("init", "-q", "-b", "main");
    at.git("add", "-A");
    at.git("commit", "-qm", "first");
    for (const program of programs) {
      for (const folder of ["node_modules/.bin", "."]) {
        at.put(join(folder, program), at.canaryText(program));
        chmodSync(join(at.workspace, folder, program), 0o755);
      }
    }
  });
  afterEach(() => at.close());

  const envOf = (entries: readonly string[]) => ({ PATH: [...entries, rest()].join(delimiter) });
  const run = (args: readonly string[], entries: readonly string[]): Promise<unknown> =>
    at.run(args, { env: envOf(entries) });

  for (const [name, entry] of ways)
    it(`with ${name}: runs no program of it at a start, in checkpoints, search and checks`, async () => {
      at.answers(
        ["write", { path: "b.ts", content: "export const b = 1;\n" }],
        ["grep", { pattern: "export" }],
        ["diagnostics", {}],
      );
      const entries = [entry(at.workspace)];
      await run(["run", "hello"], entries);
      for (const words of [["doctor"], ["policy", "check", "git reset --hard"], ["search", "a"]])
        await run(words, entries);
      assert.deepEqual(at.ran(), []);
    });

  it("with all of these: runs no program of them for worktrees and attempts", async () => {
    const entries = ways.map(([, entry]) => entry(at.workspace));
    await run(["run", "--worktree", "hello"], entries);
    await run(["run", "--best-of", "2", "--worktree", "hello"], entries);
    // The inner run of a fork inherits the streams of its process.
    await at.start(["run", "--fork", "hello"], { env: envOf(entries), before: [process.execPath] }).ended;
    assert.deepEqual(at.ran(), []);
  });
});
