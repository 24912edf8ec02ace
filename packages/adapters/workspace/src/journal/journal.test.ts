/** A journal's service for other processes: cleans up after dead ones, waits for living ones. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { type Change, isFailure } from "@lathe/protocol";
import { failedWith, succeeded, treeOf } from "@lathe/testkit";
import { createWorkspace, type LocalWorkspace } from "../create-workspace.ts";
import { type Disk, nodeDisk } from "../disk/disk.ts";
import type { WorkspaceOptions } from "../workspace-options.ts";
import { journalName } from "./journal-names.ts";
import { encodeRecord } from "./journal-record.ts";
import { isOwnerAlive, newOwner, ownerName, type ProcessOwner } from "./process-owner.ts";
import type { Recovery } from "./recover-journals.ts";

const temporary = realpathSync(mkdtempSync(join(tmpdir(), "lathe-journal-")));
after(() => rmSync(temporary, { recursive: true }));
const { versionOf } = createWorkspace({ root: temporary });
let count = 0;

interface Place {
  readonly root: string;
  readonly journal: string;
  open(more?: Partial<WorkspaceOptions>): LocalWorkspace;
}

function newPlace(files: Readonly<Record<string, string>> = {}): Place {
  count += 1;
  const root = join(temporary, `${count}`, "root");
  const journal = join(temporary, `${count}`, "state", "deep", "journal");
  mkdirSync(root, { recursive: true });
  for (const [path, text] of Object.entries(files)) writeFileSync(join(root, path), text);
  return { root, journal, open: (more) => createWorkspace({ root, journal, ...more }) };
}

const put = (path: string, from: string | null, text: string): Change => {
  return { type: "put", path, expected: from === null ? null : versionOf(from), text };
};
const both = (from: string, to: string): readonly Change[] => [
  put("a.txt", from, to),
  put("b.txt", from, to),
];

/** Throws in the middle of the n-th call of this kind and does nothing afterwards, like a killed process. */
function dyingDisk(kind: keyof Disk, calls: number): Disk {
  let left = calls;
  let isDead = false;
  const entries = Object.entries(nodeDisk).map(([name, call]) => [
    name,
    (...args: readonly unknown[]) => {
      if (name === kind) left -= 1;
      isDead ||= left === 0;
      if (isDead) throw Object.assign(new Error("dead"), { code: "EIO" });
      return (call as (...all: readonly unknown[]) => void)(...args);
    },
  ]);
  return Object.fromEntries(entries) as Disk;
}

/** Leaves a commit half done: its first file is new, its second is not. */
async function leaveHalfDone(place: Place): Promise<void> {
  const died = place.open({ disk: dyingDisk("rename", 2) });
  assert.ok(isFailure(await died.commit(both("old", "new"))));
  assert.equal(readFileSync(join(place.root, "a.txt"), "utf8"), "new");
}

const isDead = (): boolean => false;
const files = { "a.txt": "old", "b.txt": "old" };

describe("a journal", () => {
  it("does not exist before it is needed, or after it is closed", async () => {
    const { root, journal, open } = newPlace(files);
    const workspace = open();
    succeeded(await workspace.read("a.txt"));
    await workspace.close();
    assert.equal(existsSync(journal), false);
    succeeded(await workspace.commit(both("old", "new")));
    assert.equal(readdirSync(journal).length, 1);
    await workspace.close();
    await workspace.close();
    assert.deepEqual(readdirSync(journal), []);
    succeeded(await workspace.commit([put("a.txt", "new", "again")]));
    assert.deepEqual(treeOf(root), { "a.txt": "again", "b.txt": "new" });
  });

  it("is made again if it was removed", async () => {
    const { root, journal, open } = newPlace(files);
    const workspace = open();
    succeeded(await workspace.commit(both("old", "1")));
    rmSync(journal, { recursive: true });
    succeeded(await workspace.commit(both("1", "2")));
    assert.deepEqual(treeOf(root), { "a.txt": "2", "b.txt": "2" });
    assert.equal(readdirSync(journal).length, 1);
  });

  it("undoes and reports a dead process's half-done change", async () => {
    const place = newPlace(files);
    await leaveHalfDone(place);
    const recoveries: Recovery[] = [];
    const workspace = place.open({ isAlive: isDead, onRecovered: (one) => recoveries.push(one) });
    assert.equal(succeeded(await workspace.read("a.txt")).text, "old");
    assert.deepEqual(recoveries, [{ back: ["a.txt"], left: [], failed: [] }]);
    assert.deepEqual(treeOf(place.root), files);
    succeeded(await workspace.commit(both("old", "new")));
    await workspace.close();
    assert.deepEqual(readdirSync(place.journal), []);
  });

  it("leaves later changes by others alone", async () => {
    const place = newPlace(files);
    await leaveHalfDone(place);
    writeFileSync(join(place.root, "a.txt"), "theirs");
    const recoveries: Recovery[] = [];
    const workspace = place.open({ isAlive: isDead, onRecovered: (one) => recoveries.push(one) });
    await workspace.list(".");
    assert.deepEqual(treeOf(place.root), { "a.txt": "theirs", "b.txt": "old" });
    assert.deepEqual(recoveries, [{ back: [], left: ["a.txt"], failed: [] }]);
  });

  it("does not touch a living process's change", async () => {
    const place = newPlace({ ...files, "c.txt": "c" });
    const first = place.open({ disk: { ...nodeDisk, unlink: () => undefined } });
    succeeded(await first.commit([put("n.txt", null, "n")]));
    rmSync(join(place.journal, "lock"));
    const before = treeOf(place.root);
    assert.equal(Object.keys(before).filter((name) => name.endsWith(".tmp")).length, 1);
    const second = place.open();
    succeeded(await second.commit([put("c.txt", "c", "C")]));
    await second.close();
    assert.deepEqual(treeOf(place.root), { ...before, "c.txt": "C" });
    await place.open({ isAlive: isDead }).list(".");
    assert.deepEqual(treeOf(place.root), { ...files, "c.txt": "C", "n.txt": "n" });
  });

  it("is retried by the next process if something could not be restored", async () => {
    const place = newPlace(files);
    await leaveHalfDone(place);
    const recoveries: Recovery[] = [];
    const onRecovered = (one: Recovery): void => void recoveries.push(one);
    const rename = (from: string, to: string): void => {
      if (to.endsWith("a.txt")) throw Object.assign(new Error("no"), { code: "EACCES" });
      nodeDisk.rename(from, to);
    };
    const unlucky = place.open({ isAlive: isDead, onRecovered, disk: { ...nodeDisk, rename } });
    await unlucky.list(".");
    assert.deepEqual(
      recoveries.map(({ failed }) => failed.map(({ code }) => code)),
      [["no-access"]],
    );
    await unlucky.close();
    await place.open({ isAlive: isDead, onRecovered }).list(".");
    assert.deepEqual(treeOf(place.root), files);
  });

  it("recovers leftovers of a process that died while it recovered another", async () => {
    const place = newPlace(files);
    await leaveHalfDone(place);
    for (const kind of ["rename", "writeAt", "unlink", "syncFolder"] as const) {
      for (let calls = 1; calls < 6; calls++) {
        await place.open({ isAlive: isDead, disk: dyingDisk(kind, calls) }).list(".");
      }
    }
    const last = place.open({ isAlive: isDead });
    await last.list(".");
    assert.deepEqual(treeOf(place.root), files);
    await last.close();
    assert.deepEqual(readdirSync(place.journal), []);
  });

  it("does not undo a change twice, although its cleanup was interrupted", async () => {
    const place = newPlace(files);
    const died = place.open({ disk: dyingDisk("rename", 1) });
    assert.ok(isFailure(await died.commit([put("a.txt", "old", "new"), put("0.txt", null, "made")])));
    assert.equal(readFileSync(join(place.root, "0.txt"), "utf8"), "made");
    // The first removal is that of the half-done file, the second that of a temporary one.
    await place.open({ isAlive: isDead, disk: dyingDisk("unlink", 2) }).list(".");
    assert.equal(existsSync(join(place.root, "0.txt")), false);
    writeFileSync(join(place.root, "0.txt"), "made");
    await place.open({ isAlive: isDead }).list(".");
    assert.deepEqual(treeOf(place.root), { ...files, "0.txt": "made" });
  });

  it("ignores files that are not journals", async () => {
    const place = newPlace(files);
    mkdirSync(place.journal, { recursive: true });
    const owner = newOwner();
    for (const name of ["README", "x.journal", "x~y.journal"]) writeFileSync(join(place.journal, name), "?");
    writeFileSync(journalName(place.journal, owner).path, "torn");
    const workspace = place.open({ isAlive: isDead });
    succeeded(await workspace.commit(both("old", "new")));
    await workspace.close();
    assert.deepEqual(readdirSync(place.journal).sort(), ["README", "x.journal", "x~y.journal"]);
  });
});

describe("the lock", () => {
  it("never lets two workspaces on one folder interleave", async () => {
    const { root, open } = newPlace({ "a.txt": "0", "b.txt": "0" });
    const workspaces = [open(), open(), open()];
    const add = async (workspace: LocalWorkspace): Promise<void> => {
      for (let done = 0; done < 15; ) {
        const { text } = succeeded(await workspace.read("a.txt"));
        const result = await workspace.commit(both(text, `${Number(text) + 1}`));
        if (isFailure(result)) failedWith("stale-version", result);
        else done += 1;
      }
    };
    await Promise.all(workspaces.map(add));
    assert.deepEqual(treeOf(root), { "a.txt": "45", "b.txt": "45" });
  });

  it("is held during every effect, also of concurrent commits", async () => {
    const { root, journal, open } = newPlace({ "a.txt": "0", "b.txt": "0", "c.txt": "0" });
    let isAlwaysHeld = true;
    const rename = (from: string, to: string): void => {
      isAlwaysHeld &&= existsSync(join(journal, "lock"));
      nodeDisk.rename(from, to);
    };
    const workspace = open({ disk: { ...nodeDisk, rename } });
    const paths = ["a.txt", "b.txt", "c.txt"];
    const results = await Promise.all(paths.map((path) => workspace.commit([put(path, "0", "1")])));
    for (const result of results) succeeded(result);
    assert.ok(isAlwaysHeld);
    assert.deepEqual(treeOf(root), { "a.txt": "1", "b.txt": "1", "c.txt": "1" });
  });

  it("is taken over from a dead holder, and awaited from a living one", async () => {
    const { root, journal, open } = newPlace(files);
    const holder: ProcessOwner = { ...newOwner(), pid: 2 ** 22 + 1 };
    mkdirSync(journal, { recursive: true });
    const path = journalName(journal, holder).path;
    writeFileSync(path, encodeRecord({ type: "owner", v: 1, owner: ownerName(holder), root }));
    linkSync(path, join(journal, "lock"));
    let isHeld = true;
    const waiting = open({ isAlive: (owner) => (owner.id === holder.id ? isHeld : isOwnerAlive(owner)) });
    const committed = waiting.commit(both("old", "new"));
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(Object.keys(treeOf(root)).length, 6);
    isHeld = false;
    succeeded(await committed);
    await waiting.close();
    assert.deepEqual(readdirSync(journal), []);
    assert.deepEqual(treeOf(root), { "a.txt": "new", "b.txt": "new" });
  });

  it("works on disks without hard links", async () => {
    const { root, journal, open } = newPlace(files);
    const link = (): void => {
      throw Object.assign(new Error("no links"), { code: "EPERM" });
    };
    const workspace = open({ disk: { ...nodeDisk, link } });
    succeeded(await workspace.commit([...both("old", "new"), put("n.txt", null, "n")]));
    await workspace.close();
    assert.deepEqual(treeOf(root), { "a.txt": "new", "b.txt": "new", "n.txt": "n" });
    assert.deepEqual(readdirSync(journal), []);
  });
});

describe("an owner", () => {
  it("is its process, not another one with the same number", async () => {
    const child: ChildProcess = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
    await once(child, "spawn");
    const own = newOwner();
    assert.equal(isOwnerAlive(own), true);
    const other = { ...own, pid: child.pid ?? 0 };
    // They started at different times, but some machines cannot tell.
    if (process.platform === "linux") assert.equal(isOwnerAlive(other), false);
    assert.equal(isOwnerAlive({ ...own, boot: "00000000" }), false);
    assert.equal(isOwnerAlive({ ...own, host: "00000000" }), true);
    child.kill("SIGKILL");
    await once(child, "exit");
    assert.equal(isOwnerAlive(other), false);
  });
});
