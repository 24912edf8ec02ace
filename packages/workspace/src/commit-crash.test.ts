/** After a crash at any instant, and during the recovery from one, a commit is there wholly or not at all. */
import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import type { Change } from "@lathe/protocol";
import {
  type CrashOptions,
  type CrashState,
  type DiskRecording,
  type FileTree,
  recordDisk,
  succeeded,
  treeOf,
} from "@lathe/testkit";
import { createWorkspace, type LocalWorkspace } from "./create-workspace.ts";
import { type Disk, nodeDisk } from "./disk.ts";
import type { Recovery } from "./recover-journals.ts";

// In memory where that is possible: the crashes are only recorded ones.
const temporary = realpathSync(
  mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "lathe-commit-")),
);
after(() => rmSync(temporary, { recursive: true, force: true }));

/** A folder with a workspace and the state beside it; emptied and filled again for each crash. */
const place = join(temporary, "place");
const root = join(place, "root");
const journal = join(place, "state", "journal");

function empty(): void {
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place, { recursive: true });
}

function fill(files: FileTree): void {
  empty();
  mkdirSync(root);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

function open(disk: Disk, recoveries: Recovery[] = []): LocalWorkspace {
  return createWorkspace({
    root,
    journal,
    disk,
    isAlive: () => false,
    onRecovered: (one) => recoveries.push(one),
  });
}

/** The workspaces after no, one, two ... commits, and how many operations had been done when each was reported. */
interface Script {
  readonly recording: DiskRecording<Disk>;
  readonly trees: readonly FileTree[];
  readonly reported: readonly number[];
}

async function record(files: FileTree, commits: readonly (readonly Change[])[]): Promise<Script> {
  fill(files);
  const recording = recordDisk(nodeDisk, place);
  const workspace = open(recording.disk);
  const trees = [treeOf(root)];
  const reported: number[] = [];
  for (const changes of commits) {
    succeeded(await workspace.commit(changes));
    trees.push(treeOf(root));
    reported.push(recording.count());
  }
  await workspace.close();
  return { recording, trees, reported };
}

function restore(state: CrashState): void {
  empty();
  mkdirSync(root);
  state.materialise(place, place);
}

/** Opens it again and compares with what may be there. */
async function checkState({ trees, reported }: Script, state: CrashState): Promise<void> {
  const recoveries: Recovery[] = [];
  const workspace = open(nodeDisk, recoveries);
  await workspace.list(".");
  const least = reported.filter((count) => count <= state.done).length;
  const found = treeOf(root);
  const isAllowed = trees.slice(least).some((tree) => JSON.stringify(tree) === JSON.stringify(found));
  assert.ok(isAllowed, `not one of ${JSON.stringify(trees.slice(least))}: ${JSON.stringify(found)}`);
  assert.deepEqual(
    recoveries.flatMap(({ left, failed }) => [...left, ...failed]),
    [],
  );
  await workspace.close();
  assert.deepEqual(existsSync(journal) ? readdirSync(journal) : [], []);
}

async function checkStates(script: Script, options: CrashOptions): Promise<number> {
  let count = 0;
  for (const state of script.recording.states(options)) {
    restore(state);
    await checkState(script, state).catch((cause: unknown) => {
      throw new Error(`${state.text}: ${cause instanceof Error ? cause.message : cause}`, { cause });
    });
    count += 1;
  }
  return count;
}

const { versionOf } = createWorkspace({ root: temporary });
const put = (path: string, from: string | null, text: string): Change => {
  return { type: "put", path, expected: from === null ? null : versionOf(from), text };
};
const files: FileTree = { "a.txt": "a", "b/b.txt": "b", "c.txt": "c", "d/m.txt": "m", "e.txt": "e" };
const several: readonly Change[] = [
  put("new/deep/n.txt", null, "n"),
  put("a.txt", "a", "A"),
  { type: "delete", path: "b/b.txt", expected: versionOf("b") },
  { type: "move", path: "d/m.txt", to: "moved/m.txt", expected: versionOf("m") },
  { type: "move", path: "e.txt", to: "b/e.txt", expected: versionOf("e"), text: "E" },
  put("c.txt", "c", "C"),
];
const options: CrashOptions = { everyInstant: true, tears: 3 };

describe("a crash", () => {
  it("leaves a single file old or new", async (t) => {
    const script = await record(files, [
      [put("a.txt", "a", "A longer text")],
      [put("n.txt", null, "n")],
      [{ type: "delete", path: "c.txt", expected: versionOf("c") }],
      [put("a.txt", "A longer text", "")],
    ]);
    const count = await checkStates(script, options);
    t.diagnostic(`${count} states`);
    assert.ok(count > 100);
  });

  it("leaves several files all old or all new", async (t) => {
    const script = await record(files, [several]);
    const count = await checkStates(script, options);
    t.diagnostic(`${count} states`);
    assert.ok(count > 300);
  });

  it("leaves a commit after a commit", async (t) => {
    const script = await record({ "a.txt": "a", "b.txt": "b" }, [
      [put("a.txt", "a", "1"), put("b.txt", "b", "1")],
      [put("a.txt", "1", "2")],
      [
        put("a.txt", "2", "3"),
        put("x/y.txt", null, "3"),
        { type: "delete", path: "b.txt", expected: versionOf("1") },
      ],
      [put("b.txt", null, "1"), put("a.txt", "3", "1")],
    ]);
    const count = await checkStates(script, { ...options, tears: 1 });
    t.diagnostic(`${count} states`);
    assert.ok(count > 300);
  });

  it("during the recovery from another changes nothing", async (t) => {
    const script = await record(files, [several]);
    const states = [...script.recording.states({ everyInstant: true, tears: 1 })];
    let count = 0;
    // Every so many: a whole square of states takes minutes.
    for (let i = 3; i < states.length; i += 41) {
      const state = states[i];
      if (!state) continue;
      restore(state);
      const recording = recordDisk(nodeDisk, place);
      await open(recording.disk).list(".");
      const tree = treeOf(root);
      const again: Script = { recording, trees: [tree], reported: [] };
      count += await checkStates(again, { everyInstant: true, tears: 1 });
    }
    t.diagnostic(`${count} states`);
    assert.ok(count > 300);
  });
});
