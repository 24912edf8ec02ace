import assert from "node:assert/strict";
import {
  appendFileSync,
  mkdtempSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, beforeEach, describe, it } from "node:test";
import { fc } from "@lathe/testkit/properties";
import { type FileStamp, stampOf } from "./file-stamp.ts";
import { ReadBufferPool } from "./read-buffer-pool.ts";

const folder = mkdtempSync(join(tmpdir(), "lathe-reading-room-"));
after(() => rmSync(folder, { recursive: true }));

function written(name: string, bytes: Uint8Array): { readonly path: string; readonly stamp: FileStamp } {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return { path, stamp: stampOf(path) as FileStamp };
}

describe("a pool of read buffers", () => {
  it("keeps every file that was read, whatever is read after it, until it is cleared", () => {
    const sizes = fc.array(fc.oneof(fc.nat(5_000), fc.constantFrom(0, 1_100_000, 2_300_000)), {
      maxLength: 6,
    });
    const room = new ReadBufferPool();
    fc.assert(
      fc.property(sizes, (asked) => {
        room.clear();
        const files = asked.map((size, at) => {
          const bytes = new Uint8Array(size).fill(at + 1);
          const { path, stamp } = written(`${at}`, bytes);
          return { bytes, read: room.read(folder, basename(path), stamp) };
        });
        for (const { bytes, read } of files) assert.ok(read && Buffer.compare(bytes, read) === 0);
      }),
      { numRuns: 30 },
    );
  });

  describe("gives nothing of a file", () => {
    let path: string;
    let stamp: FileStamp;
    const room = new ReadBufferPool();
    beforeEach(() => {
      ({ path, stamp } = written("a", Buffer.from("as it was")));
    });
    for (const [what, change] of [
      ["that has grown", () => appendFileSync(path, "!")],
      ["that is shorter", () => truncateSync(path, 3)],
      ["that is gone", () => rmSync(path)],
    ] as const)
      it(what, () => {
        change();
        assert.equal(room.read(folder, basename(path), stamp), undefined);
      });

    it("whose bytes are others, with the same size and time", () => {
      const { atime, mtime } = statSync(path);
      // The clock of a file system ticks: what is changed in the same tick is fresh, and not asked for here.
      for (const from = Date.now(); Date.now() - from < 25; );
      writeFileSync(path, "As it was");
      utimesSync(path, atime, mtime);
      assert.equal(room.read(folder, basename(path), stamp), undefined);
    });
  });
});
