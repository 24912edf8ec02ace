/** Commits that are recorded, and every state of the disk that a crash in the midst of them can leave, opened again. */
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
import { after } from "node:test";
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
import { createWorkspace, type LocalWorkspace } from "../create-workspace.ts";
import { type Disk, nodeDisk } from "../disk/disk.ts";
import type { Recovery } from "../journal/recover-journals.ts";

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
export interface Script {
  readonly recording: DiskRecording<Disk>;
  readonly trees: readonly FileTree[];
  readonly reported: readonly number[];
}

export async function record(files: FileTree, commits: readonly (readonly Change[])[]): Promise<Script> {
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

export async function checkStates(script: Script, options: CrashOptions): Promise<number> {
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

export const versionOf: LocalWorkspace["versionOf"] = createWorkspace({ root: temporary }).versionOf;
export const put = (path: string, from: string | null, text: string): Change => {
  return { type: "put", path, expected: from === null ? null : versionOf(from), text };
};
export const files: FileTree = { "a.txt": "a", "b/b.txt": "b", "c.txt": "c", "d/m.txt": "m", "e.txt": "e" };
export const several: readonly Change[] = [
  put("new/deep/n.txt", null, "n"),
  put("a.txt", "a", "A"),
  { type: "delete", path: "b/b.txt", expected: versionOf("b") },
  { type: "move", path: "d/m.txt", to: "moved/m.txt", expected: versionOf("m") },
  { type: "move", path: "e.txt", to: "b/e.txt", expected: versionOf("e"), text: "E" },
  put("c.txt", "c", "C"),
];
export const options: CrashOptions = { everyInstant: true, tears: 3 };

/** Crashes during the recovery from every so many of the crashes: a whole square of states takes minutes. */
export async function crashAgain(every: number): Promise<number> {
  const script = await record(files, [several]);
  const states = [...script.recording.states({ everyInstant: true, tears: 1 })];
  let count = 0;
  for (let i = 3; i < states.length; i += every) {
    const state = states[i];
    if (!state) continue;
    restore(state);
    const recording = recordDisk(nodeDisk, place);
    await open(recording.disk).list(".");
    const tree = treeOf(root);
    const again: Script = { recording, trees: [tree], reported: [] };
    count += await checkStates(again, { everyInstant: true, tears: 1 });
  }
  return count;
}
