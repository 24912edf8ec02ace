/**
 * Tests B4 and similar races: a folder swapped for a link while a tool works leads no tool out of the
 * workspace.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { globSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, it } from "node:test";
import { type HostilePlace, openHostilePlace } from "./hostile-place.ts";
import { leastCalls, leastSwaps, noSwaps, type Swaps, startSwaps } from "./swaps.ts";

type Call = readonly [tool: string, input: object];

/** The calls of round `n`; each round finds the files that it needs. */
const tools: Readonly<Record<string, (n: number) => readonly Call[]>> = {
  read: () => [["read", { path: "d/f" }]],
  write: (n) => [["write", { path: `d/new${n}`, content: "mine\n" }]],
  edit: (n) => [
    ["read", { path: "d/f" }],
    ["edit", { path: "d/f", edits: [{ old: "export", new: n % 2 === 0 ? "export " : "export" }] }],
  ],
  list: () => [["list", { path: "d" }]],
  delete: (n) => [["delete", { path: `d/k${n}` }]],
  move: (n) => [
    ["move", { path: `d/m${n}`, to: `moved/m${n}` }],
    ["move", { path: `own/o${n}`, to: `d/o${n}` }],
  ],
  apply_patch: (n) => [
    [
      "apply_patch",
      {
        patch: `*** Begin Patch\n*** Add File: d/added${n}\n+mine\n*** Delete File: d/k${n}\n*** End Patch\n`,
      },
    ],
  ],
  grep: () => [["grep", { pattern: "outsideSymbol", path: "d" }]],
  find_files: () => [["find_files", { glob: "**/only*", path: "d" }]],
  search_code: (n) => [["search_code", { query: `the outside symbol ${n}`, path: "d" }]],
  symbols: () => [["symbols", { path: "d/f.ts" }]],
  diagnostics: () => [["diagnostics", { paths: ["d/f.ts"] }]],
};

describe("a folder swapped for a link to another one", { skip: noSwaps() }, () => {
  let at: HostilePlace;
  let swaps: Swaps;
  beforeEach(async () => {
    at = await openHostilePlace({ more: numbered(["k", "m"]), secretNames: ["only-outside"] });
    for (const name of ["d/f", "d/f.ts"]) at.put(name, "export const inside = 1;\n");
    for (const name of numbered(["k", "m"])) at.put(`d/${name}`, "inside\n");
    for (const name of numbered(["o"])) at.put(`own/${name}`, "inside\n");
    for (const n of rounds()) at.put(`d/s${n}/g`, "inside\n");
    at.put("moved/x", "x\n");
    at.put("tsconfig.json", "{}\n");
  });
  afterEach(async () => {
    await swaps.stop();
    await at.close();
  });

  for (const [name, calls] of Object.entries(tools)) {
    it(`does not lead ${name} outside`, async () => {
      swaps = startSwaps(at, "d");
      const { out, answered } = await callTool(calls);
      await swaps.stop();
      assert.ok(swaps.count() >= leastSwaps && answered >= leastCalls);
      at.assertOutsideUntouched(out);
    });
  }

  it("does not lead checkpoints, diffs and a rewind outside", async () => {
    at.answers(...rounds().map((n): Call => ["write", { path: `new${n}`, content: "x\n" }]));
    swaps = startSwaps(at, "d");
    const ended = await at.hello();
    const [id = ""] = await sessionIds();
    let shown = ended.out + ended.err;
    for (const words of [["diff"], ["rewind", "--files", "--force"], ["rewind", "--undo"]]) {
      const { out, err } = await at.run(["sessions", words[0] ?? "", id, ...words.slice(1)]);
      shown += out + err;
    }
    await swaps.until(leastSwaps);
    await swaps.stop();
    at.assertOutsideUntouched(shown);
    for (const store of globSync(join(at.home, ".local/state/lathe/checkpoints/*"))) {
      const args = ["cat-file", "--batch-all-objects", "--batch"];
      const { stdout } = spawnSync("git", args, {
        env: { ...process.env, GIT_DIR: store },
        maxBuffer: 2 ** 28,
      });
      assert.ok(!stdout.includes(at.secret), "a checkpoint holds an outside file");
    }
  });

  it("does not lead a rewind of many files outside", async () => {
    const script = "for n in $(seq 300); do echo changed > d/m$n; echo new > d/made$n; done; rm -f d/k*";
    at.answers(["shell", { command: script }]);
    await at.hello();
    const [id = ""] = await sessionIds();
    swaps = startSwaps(at, "d");
    let shown = "";
    for (let round = 0; swaps.count() < leastSwaps || round < 4; round++) {
      const way = round % 2 === 0 ? ["--files", "--force"] : ["--undo"];
      const { out, err } = await at.run(["sessions", "rewind", id, ...way]);
      shown += out + err;
    }
    await swaps.stop();
    at.assertOutsideUntouched(shown);
  });

  it("does not lead the reading of instructions outside", async () => {
    for (const n of rounds()) {
      at.put(`d/s${n}/AGENTS.md`, "inside\n");
      mkdirSync(join(at.outside, `s${n}`));
      writeFileSync(join(at.outside, `s${n}`, "AGENTS.md"), `${at.secret}\n`);
    }
    at.rememberOutside();
    at.answers(...rounds().map((n): Call => ["list", { path: `d/s${n}` }]));
    swaps = startSwaps(at, "d");
    const { out, err } = await at.hello(["--max-steps", String(leastCalls + 2)]);
    await swaps.until(leastSwaps);
    await swaps.stop();
    at.assertOutsideUntouched(out, err);
  });

  it("does not lead memory outside if the workspace is the home", async () => {
    at.put(".config/lathe/x", "x\n");
    swaps = startSwaps(at, ".config");
    let shown = "";
    for (let round = 0; swaps.count() < leastSwaps || round < 4; round++) {
      const words = round % 2 === 0 ? ["add", `fact ${round}`] : ["list"];
      const { out, err } = await at.run(["memory", ...words], { env: { HOME: at.workspace } });
      shown += out + err;
    }
    await swaps.stop();
    at.assertOutsideUntouched(shown);
  });

  it("does not lead the files that a worktree carries outside", async () => {
    at.git("init", "-q", "-b", "main");
    at.git("add", "tsconfig.json");
    at.git("commit", "-qm", "first");
    swaps = startSwaps(at, "d");
    let shown = "";
    for (let round = 0; swaps.count() < leastSwaps || round < 2; round++) {
      const { out, err } = await at.hello([`--worktree=t${round}`]);
      shown += out + err;
    }
    await swaps.stop();
    at.assertOutsideUntouched(shown);
    const trees = `${at.workspace}.worktrees`;
    const found = spawnSync("grep", ["-rl", at.secret, trees], { encoding: "utf8" });
    assert.equal(found.stdout, "");
  });

  /** Runs one process with one call after the other, until there were enough calls and swaps. */
  async function callTool(calls: (n: number) => readonly Call[]): Promise<{ out: string; answered: number }> {
    const running = at.start(["tool", "--stdin-jsonl"], { input: null });
    const { stdin, stdout } = running.child;
    let [round, answered] = [0, 0];
    let queue: Call[] = [];
    const next = (): void => {
      if (queue.length === 0 && answered >= leastCalls && swaps.count() >= leastSwaps) {
        stdin?.end();
        return;
      }
      // The first calls of a round have the files they need; later ones find nothing to do, which counts too.
      if (queue.length === 0) queue = [...calls(++round)];
      const [tool, input] = queue.shift() ?? ["list", {}];
      stdin?.write(`${JSON.stringify({ tool, input })}\n`);
    };
    if (stdout)
      createInterface({ input: stdout }).on("line", () => {
        answered++;
        next();
      });
    next();
    const { out, err } = await running.ended;
    return { out: out + err, answered };
  }

  async function sessionIds(): Promise<readonly string[]> {
    const { out } = await at.run(["sessions", "list", "--json"]);
    return (JSON.parse(out) as readonly { readonly id: string }[]).map(({ id }) => id);
  }
});

function rounds(most = leastCalls): readonly number[] {
  return Array.from({ length: most }, (_, n) => n + 1);
}

function numbered(words: readonly string[]): readonly string[] {
  return words.flatMap((word) => rounds().map((n) => `${word}${n}`));
}
