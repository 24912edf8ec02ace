/**
 * Another process swaps a folder with a link that leads out, 2,000 times for each tool; none reaches anything
 * outside.
 */
import assert from "node:assert/strict";
import { existsSync, lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it, type TestContext } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { type Change, type Failure, isFailure } from "@lathe/protocol";
import { createWorkspace } from "./create-workspace.ts";
import { leastSwaps, swappingPlace } from "./swapping-folder.test.ts";

const place = swappingPlace(["f", "sub/f"]);
after(place.remove);
const workspace = createWorkspace({ root: place.root, journal: join(place.folder, "journal") });
const { versionOf } = workspace;
/** Allowed results of a swap: a refusal, or a later state of the same folder. */
const refusals: ReadonlySet<string> = new Set([
  "outside-workspace",
  "stale-version",
  "not-found",
  "already-exists",
  "not-a-file",
]);

class Counts {
  done = 0;
  refused = 0;
  readonly codes = new Map<string, number>();

  count(result: unknown): void {
    if (!isFailure(result)) this.done += 1;
    else this.refuse(result);
  }

  refuse({ code, text }: Failure): void {
    assert.ok(refusals.has(code), `${code}: ${text}`);
    this.refused += 1;
    this.codes.set(code, (this.codes.get(code) ?? 0) + 1);
  }
}

async function many(t: TestContext, once: (counts: Counts, i: number) => Promise<void>): Promise<void> {
  const counts = new Counts();
  const before = place.outsideNow();
  const swaps = await place.during(async (seen) => {
    for (let i = 0; seen() < leastSwaps || counts.done === 0 || counts.refused === 0; i++) {
      await once(counts, i);
      await turn();
    }
  });
  assert.deepEqual(place.outsideNow(), before);
  const codes = JSON.stringify(Object.fromEntries(counts.codes));
  t.diagnostic(`${swaps} swaps, ${counts.done} done, ${counts.refused} refused: ${codes}`);
  assert.ok(swaps >= leastSwaps && counts.done > 0 && counts.refused > 0);
}

describe("a folder that is swapped constantly", { skip: place.missing ?? false }, () => {
  it("is read as text and as bytes", (t) =>
    many(t, async (counts, i) => {
      const path = i % 2 === 0 ? "d/f" : "d/sub/f";
      const read = await workspace.read(path);
      counts.count(read);
      if (!isFailure(read)) assert.equal(read.text, "inside");
      const bytes = await workspace.bytes(path, 1_000);
      counts.count(bytes);
      if (!isFailure(bytes)) assert.equal(Buffer.from(bytes.bytes).toString(), "inside");
    }));

  it("is listed, and searched for similar names", (t) =>
    many(t, async (counts, i) => {
      const listed = await workspace.list(i % 2 === 0 ? "d" : "d/sub");
      counts.count(listed);
      assert.ok(!JSON.stringify(listed).includes("outside-name"));
      const missed = await workspace.read("d/outside-nam");
      assert.ok(isFailure(missed) && !missed.text.includes("outside-name"), JSON.stringify(missed));
    }));

  it("gets new files, alone and together", (t) =>
    many(t, async (counts, i) => {
      const put = (path: string): Change => ({ type: "put", path, expected: null, text: "written" });
      counts.count(
        await workspace.commit(i % 2 === 0 ? [put(`d/w${i}`)] : [put(`d/w${i}`), put(`d/new${i}/w`)]),
      );
    }));

  it("has a file edited", (t) =>
    many(t, async (counts, i) => {
      const read = await workspace.read("d/f");
      if (isFailure(read)) return counts.refuse(read);
      const change: Change = { type: "put", path: "d/f", expected: read.version, text: `inside ${i}` };
      counts.count(await workspace.commit([change]));
    }));

  it("has files moved within it, out of it and back", (t) =>
    many(t, async (counts, i) => {
      const [path, to] = [
        ["d/m", "d/m2"],
        ["d/m2", "kept/m"],
        ["kept/m", "d/sub/m"],
        ["d/sub/m", "d/m"],
      ][i % 4] as [string, string];
      const read = await workspace.read(path);
      if (isFailure(read)) {
        counts.refuse(read);
        if (i % 4 === 0)
          counts.count(await workspace.commit([{ type: "put", path: "d/m", expected: null, text: "m" }]));
        return;
      }
      assert.equal(read.text, "m");
      counts.count(await workspace.commit([{ type: "move", path, to, expected: read.version }]));
    }));

  it("has files deleted", (t) =>
    many(t, async (counts, i) => {
      const path = `d/${i % 2 === 0 ? "gone" : "sub/gone"}`;
      counts.count(await workspace.commit([{ type: "delete", path, expected: versionOf("outside") }]));
      counts.count(await workspace.commit([{ type: "put", path, expected: null, text: "inside" }]));
      counts.count(await workspace.commit([{ type: "delete", path, expected: versionOf("inside") }]));
    }));

  it("is intact afterwards", () => {
    assert.ok(lstatSync(join(place.root, "d")).isDirectory());
    assert.match(readFileSync(join(place.root, "d/f"), "utf8"), /^inside/);
    assert.ok(existsSync(join(place.outside, "outside-name")));
  });
});
