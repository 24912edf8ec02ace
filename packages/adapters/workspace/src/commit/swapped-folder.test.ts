/** A folder is swapped for a link during a commit: nothing is changed or read at the link's target. */
import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { type Change, isFailure, type WithLease } from "@lathe/protocol";
import { exactTree, failedWith } from "@lathe/testkit";
import { applyTree } from "../apply-tree.ts";
import { createWorkspace } from "../create-workspace.ts";
import { type Disk, nodeDisk } from "../disk/disk.ts";
import { withPlacesSync } from "../held-places.ts";
import { noJournal } from "../journal/journal.ts";
import { stateOf } from "../reading/state.ts";
import { applySteps } from "./apply-steps.ts";

const { versionOf } = createWorkspace({ root: tmpdir() });
const memory = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
const names = ["a", "b", "gone", "from"];

/** Each kind of change, alone and together, below the swapped folder. */
const changes: readonly Change[] = [
  { type: "put", path: "d/a", expected: versionOf("a"), text: "A" },
  { type: "put", path: "d/new", expected: null, text: "n" },
  { type: "put", path: "d/made/deep/new", expected: null, text: "n" },
  { type: "delete", path: "d/gone", expected: versionOf("gone") },
  { type: "move", path: "d/from", to: "d/to", expected: versionOf("from") },
  { type: "move", path: "e/from", to: "d/in", expected: versionOf("from") },
  { type: "move", path: "d/from", to: "e/out", expected: versionOf("from"), text: "F" },
];
const commits: readonly (readonly Change[])[] = [...changes.map((one) => [one]), changes.slice(0, 6)];

describe("a folder that is swapped in the middle of a commit", () => {
  let temp: string;
  let root: string;
  let outside: string;
  let before: unknown;

  beforeEach(() => {
    temp = realpathSync(mkdtempSync(join(memory, "lathe-swap-")));
    root = join(temp, "root");
    outside = join(temp, "outside");
    fill();
  });
  afterEach(() => rmSync(temp, { recursive: true }));

  function fill(): void {
    rmSync(root, { recursive: true, force: true });
    rmSync(outside, { recursive: true, force: true });
    for (const folder of [join(root, "d"), join(root, "e"), outside]) {
      mkdirSync(folder, { recursive: true });
      // The same content as inside: a comparison there would find it unchanged.
      for (const name of names) writeFileSync(join(folder, name), name);
    }
    before = exactTree(outside);
  }

  function swap(): void {
    if (lstatSync(join(root, "d")).isSymbolicLink()) return;
    renameSync(join(root, "d"), join(root, "away"));
    symlinkSync(outside, join(root, "d"));
  }

  /** Swaps right before the n-th call. */
  function swappingDisk(at: number): { readonly disk: Disk; readonly calls: () => number } {
    let calls = 0;
    const entries = Object.entries(nodeDisk).map(([name, call]) => [
      name,
      (...args: unknown[]) => {
        calls += 1;
        if (calls === at) swap();
        return (call as (...all: unknown[]) => void)(...args);
      },
    ]);
    return { disk: Object.fromEntries(entries) as Disk, calls: () => calls };
  }

  it("before any call: nothing outside is read, made, changed, moved or removed", async () => {
    let count = 0;
    for (const [index, commit] of commits.entries()) {
      for (let at = 1, isDone = false; !isDone; at++) {
        fill();
        const { disk, calls } = swappingDisk(at);
        const workspace = createWorkspace({ root, journal: join(temp, `journal-${index}-${at}`), disk });
        const result = await workspace.commit(commit);
        await workspace.close();
        isDone = calls() < at;
        assert.deepEqual(
          exactTree(outside),
          before,
          `commit ${index}, call ${at}: ${JSON.stringify(result)}`,
        );
        if (isFailure(result)) assert.ok(["stale-version", "outside-workspace"].includes(result.code));
        count += 1;
      }
    }
    assert.ok(count > 40, `${count}`);
  });

  it("after its file was looked up: the effect is refused", async () => {
    const withLease: WithLease = (effect) => {
      swap();
      return effect();
    };
    for (const commit of commits.slice(0, 5)) {
      fill();
      const workspace = createWorkspace({ root, journal: join(temp, "journal"), withLease });
      failedWith("stale-version", await workspace.commit(commit));
      await workspace.close();
      assert.deepEqual(exactTree(outside), before);
      assert.deepEqual(readdirSync(join(root, "away")).sort(), [...names].sort());
    }
  });

  it("for another folder of the workspace: nothing changes in that one", async () => {
    const withLease: WithLease = (effect) => {
      renameSync(join(root, "d"), join(root, "away"));
      renameSync(join(root, "e"), join(root, "d"));
      return effect();
    };
    const workspace = createWorkspace({ root, journal: join(temp, "journal"), withLease });
    const put: Change = { type: "put", path: "d/a", expected: versionOf("a"), text: "A" };
    failedWith("stale-version", await workspace.commit([put]));
    await workspace.close();
    assert.deepEqual(exactTree(join(root, "d")), before);
  });

  it("gives no permissions to a link's target", async () => {
    chmodSync(join(outside, "a"), 0o600);
    const absolute = join(root, "d/a");
    const step = {
      path: "d/a",
      absolute,
      before: withPlacesSync((places) => stateOf(absolute, places)),
      after: { type: "mode", mode: 0o777 },
    } as const;
    const chmod: Disk["chmod"] = (path, mode) => {
      rmSync(absolute);
      symlinkSync(join(outside, "a"), absolute);
      nodeDisk.chmod(path, mode);
    };
    const withLease: WithLease = (effect) => effect();
    const effects = { disk: { ...nodeDisk, chmod }, journal: noJournal(), withLease };
    assert.ok(isFailure(await applySteps([step], effects)));
    assert.equal(statSync(join(outside, "a")).mode & 0o777, 0o600);
  });

  it("is recovered without following the link", async () => {
    const dies = (): void => {
      throw Object.assign(new Error("dead"), { code: "EIO" });
    };
    const journal = join(temp, "journal");
    const dead: Disk = { ...nodeDisk, rename: dies, unlink: dies, writeAt: nodeDisk.writeAt };
    const first = createWorkspace({ root, journal, disk: dead });
    assert.ok(isFailure(await first.commit(changes.slice(0, 5))));
    swap();
    for (const name of readdirSync(join(root, "away")).filter((one) => one.endsWith(".tmp")))
      writeFileSync(join(outside, name), "outside");
    before = exactTree(outside);
    const second = createWorkspace({ root, journal, isAlive: () => false });
    await second.list(".");
    await second.close();
    assert.deepEqual(exactTree(outside), before);
  });

  it("is not a source when a tree is applied to a folder", async () => {
    const fork = join(temp, "fork");
    mkdirSync(join(fork, "d"), { recursive: true });
    writeFileSync(join(fork, "d/a"), "fork");
    const failed = await applyTree({
      root,
      journal: join(temp, "journal"),
      parts: async () => {
        renameSync(join(fork, "d"), join(fork, "away"));
        symlinkSync(outside, join(fork, "d"));
        return [{ path: "d/a", after: { type: "file", from: join(fork, "d/a"), mode: 0o644 } }];
      },
      accept: async () => undefined,
    });
    failedWith("outside-workspace", failed);
    assert.deepEqual(exactTree(join(root, "d")), before);
  });
});
