/** A process killed at any moment of a commit of several files leaves them all old or all new, and nothing else. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { treeOf } from "@lathe/testkit";
import { createWorkspace } from "../create-workspace.ts";
import type { Recovery } from "../journal/recover-journals.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "lathe-kill-")));
after(() => rmSync(folder, { recursive: true }));

/** Three times as many: LATHE_KILLS=3. */
const kills = 170 * Number(process.env.LATHE_KILLS ?? 1);
const body = "text\n".repeat(2000);
const trees = [
  { a: `1${body}`, "b/b": `1${body}`, c: "1", m: `m${body}` },
  { a: "2", c: `2${body}`, "moved/m": `m${body}`, "n/new": "2" },
];

/** Goes from one tree to the other and back for ever, and says so once it has begun. */
const script = `
  const [module, root, journal] = process.argv.slice(1);
  const { createWorkspace } = await import(module);
  const workspace = createWorkspace({ root, journal });
  const version = workspace.versionOf;
  const trees = ${JSON.stringify(trees)};
  const put = (path, from, to) => ({ type: "put", path, expected: from === undefined ? null : version(from), text: to });
  const move = (path, to, text) => ({ type: "move", path, to, expected: version(text) });
  const gone = (path, text) => ({ type: "delete", path, expected: version(text) });
  const [x, y] = trees;
  const commits = [
    [put("a", x.a, y.a), gone("b/b", x["b/b"]), put("c", x.c, y.c), move("m", "moved/m", x.m), put("n/new", undefined, y["n/new"])],
    [put("a", y.a, x.a), put("b/b", undefined, x["b/b"]), put("c", y.c, x.c), move("moved/m", "m", x.m), gone("n/new", y["n/new"])],
  ];
  for (let count = 0; ; count += 1) {
    const result = await workspace.commit(commits[count % 2]);
    if (!Array.isArray(result)) throw new Error(JSON.stringify(result));
    if (count === 0) console.log("begun");
  }`;

async function killOnce(name: string): Promise<Recovery[]> {
  const root = join(folder, name, "root");
  const journal = join(folder, name, "journal");
  for (const [path, text] of Object.entries(trees[0] ?? {})) {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const module = pathToFileURL(join(import.meta.dirname, "../create-workspace.ts")).href;
  const args = ["--input-type=module", "-e", script, module, root, journal];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  await Promise.race([once(child.stdout, "data"), exited]);
  await setTimeout(Math.random() * 12);
  child.kill("SIGKILL");
  const [, signal] = await exited;
  assert.equal(signal, "SIGKILL");
  const recoveries: Recovery[] = [];
  const workspace = createWorkspace({ root, journal, onRecovered: (one) => recoveries.push(one) });
  await workspace.list(".");
  const found = Object.entries(treeOf(root)).filter(([path]) => !path.endsWith("/"));
  const isWhole = trees.some((tree) => JSON.stringify(Object.entries(tree)) === JSON.stringify(found));
  assert.ok(isWhole, `in part: ${found.map(([path, text]) => `${path}: ${text.slice(0, 3)}`).join(", ")}`);
  assert.deepEqual(
    recoveries.flatMap(({ left, failed }) => [...left, ...failed]),
    [],
  );
  await workspace.close();
  assert.deepEqual(readdirSync(journal), []);
  rmSync(join(folder, name), { recursive: true });
  return recoveries;
}

it(`kill -9 at ${kills} moments`, async (t) => {
  let begun = 0;
  let undone = 0;
  const worker = async (): Promise<void> => {
    while (begun < kills) {
      begun += 1;
      undone += (await killOnce(`${begun}`)).length;
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  t.diagnostic(`${undone} of ${kills} in the middle of a commit, which was undone`);
});
