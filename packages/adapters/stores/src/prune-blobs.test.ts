import assert from "node:assert/strict";
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { isFailure } from "@lathe/protocol";
import { succeeded } from "@lathe/testkit";
import { createBlobs } from "./blobs.ts";
import { pruneBlobs } from "./prune-blobs.ts";

const root = mkdtempSync(join(tmpdir(), "lathe-prune-"));
after(() => rmSync(root, { recursive: true }));
const dayMs = 86_400_000;

it("removes old blobs, then the oldest until the rest fits, once a day, and from no other folder", async () => {
  const state = mkdtempSync(join(root, "state-"));
  const blobs = createBlobs({ folder: state });
  const texts = createBlobs({ folder: state, name: "texts" });
  const folder = join(state, "texts");
  const now = Date.now();
  const put = async (text: string, days: number): Promise<string> => {
    const hash = succeeded(await texts.put(text, { durable: false }));
    const at = new Date(now - days * dayMs);
    utimesSync(join(folder, hash.slice(0, 2), hash), at, at);
    return hash;
  };
  const output = succeeded(await blobs.put("a command said this"));
  const old = await put("old", 40);
  const again = await put("old, and seen again", 40);
  const early = await put("earl", 3);
  const late = await put("late", 2);
  await texts.put("old, and seen again", { durable: false });
  const left = async (): Promise<readonly boolean[]> =>
    Promise.all([old, again, early, late].map(async (hash) => !isFailure(await texts.get(hash))));
  pruneBlobs({ folder, now, maxBytes: 23 });
  assert.deepEqual(await left(), [false, true, false, true]);
  assert.equal(await blobs.get(output), "a command said this");
  pruneBlobs({ folder, now: now + dayMs / 2, maxBytes: 0 });
  assert.deepEqual(await left(), [false, true, false, true], "not twice a day");
  pruneBlobs({ folder, now: now + 2 * dayMs, maxBytes: 0 });
  assert.deepEqual(await left(), [false, false, false, false]);
  pruneBlobs({ folder: join(state, "none"), now });
});

it("a torn blob is rewritten when any session stores it again", async () => {
  const folder = mkdtempSync(join(root, "state-"));
  const blobs = createBlobs({ folder });
  for (const durable of [false, true]) {
    const hash = succeeded(await blobs.put("whole", { durable: false }));
    writeFileSync(join(folder, "blobs", hash.slice(0, 2), hash), "wh\0\0\0");
    assert.ok(isFailure(await blobs.get(hash)));
    await blobs.put("whole", { durable });
    assert.equal(await blobs.get(hash), "whole");
  }
});
