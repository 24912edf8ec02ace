/** The recording disk shows the states that a crash can leave after careless writes. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { CrashOptions } from "./crash-disk.ts";
import { type DiskRecording, type RecordableDisk, recordDisk } from "./recording-disk.ts";
import { type FileTree, treeOf } from "./tree-of.ts";

const folder = fs.mkdtempSync(join(tmpdir(), "lathe-recording-"));
after(() => fs.rmSync(folder, { recursive: true }));

const plain: RecordableDisk = {
  write: (path, bytes) => fs.writeFileSync(path, bytes, { flag: "wx" }),
  copy: (from, to) => fs.copyFileSync(from, to, fs.constants.COPYFILE_EXCL),
  writeAt: (path, bytes, position) => {
    const file = fs.openSync(path, "r+");
    fs.writeSync(file, bytes, 0, bytes.length, position);
    fs.closeSync(file);
  },
  rename: fs.renameSync,
  link: fs.linkSync,
  symlink: (target, path) => fs.symlinkSync(target, path),
  unlink: fs.unlinkSync,
  mkdir: (path) => void fs.mkdirSync(path),
  rmdir: fs.rmdirSync,
  chmod: fs.chmodSync,
  syncFolder: () => undefined,
};

interface Recorded {
  readonly root: string;
  readonly recording: DiskRecording<RecordableDisk>;
}

function record(
  files: FileTree,
  act: (disk: RecordableDisk, at: (path: string) => string) => void,
): Recorded {
  const root = fs.mkdtempSync(join(folder, "root-"));
  for (const [path, text] of Object.entries(files)) fs.writeFileSync(join(root, path), text);
  const recording = recordDisk(plain, root);
  act(recording.disk, (path) => join(root, path));
  return { root, recording };
}

/** Every distinct state, as JSON. */
function statesOf({ root, recording }: Recorded, options: CrashOptions): ReadonlySet<string> {
  const found = new Set<string>();
  for (const state of recording.states(options)) {
    const into = fs.mkdtempSync(join(folder, "state-"));
    state.materialise(root, into);
    found.add(JSON.stringify(treeOf(into)));
  }
  return found;
}

describe("a recorded disk", () => {
  it("tears writes in place", () => {
    const recorded = record({ a: "old" }, (disk, at) => disk.writeAt(at("a"), Buffer.from("NEW"), 0));
    const states = statesOf(recorded, { everyInstant: true });
    assert.deepEqual(
      [...states].sort(),
      ["NEW", "NEd", "Nld", "old"].map((a) => JSON.stringify({ a })),
    );
  });

  it("loses names that were not synced, separately for each folder", () => {
    const recorded = record({}, (disk, at) => {
      disk.mkdir(at("x"), undefined);
      disk.mkdir(at("y"), undefined);
      disk.syncFolder(join(at("x"), ".."));
      disk.write(at("x/1"), Buffer.from(""), undefined as never);
      disk.write(at("y/2"), Buffer.from(""), undefined as never);
    });
    const states = statesOf(recorded, { everyInstant: true });
    for (const files of [
      { "x/": "", "y/": "", "y/2": "" },
      { "x/": "", "x/1": "", "y/": "" },
    ]) {
      assert.ok(states.has(JSON.stringify(files)), JSON.stringify([...states]));
    }
  });

  it("keeps synced writes", () => {
    const recorded = record({ a: "old" }, (disk, at) => {
      disk.write(at("t"), Buffer.from("new"), undefined as never);
      disk.rename(at("t"), at("a"));
      disk.syncFolder(join(at("a"), ".."));
    });
    const last = statesOf(recorded, { from: recorded.recording.count() });
    assert.deepEqual([...last], [JSON.stringify({ a: "new" })]);
    const all = statesOf(recorded, { everyInstant: true });
    assert.ok([...all].every((state) => /"a":"(old|new)"/.test(state)));
  });

  it("records links, permissions and removals", () => {
    const recorded = record({ a: "1", b: "2" }, (disk, at) => {
      disk.symlink("a", at("l"));
      disk.link(at("a"), at("h"));
      disk.chmod(at("a"), 0o600);
      disk.unlink(at("b"));
    });
    const states = statesOf(recorded, {});
    assert.ok(states.has(JSON.stringify({ a: "1", h: "1", l: "-> a" })), JSON.stringify([...states]));
    assert.ok(states.has(JSON.stringify({ a: "1", b: "2" })));
  });
});
