/**
 * A folder is swapped for a link during a checkpoint or restore: nothing behind the link is stored or
 * changed.
 */
import assert from "node:assert/strict";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, it } from "node:test";
import { isFailure } from "@lathe/protocol";
import { bytePath } from "@lathe/system/paths";
import { exactTree, succeeded } from "@lathe/testkit";
import { type Disk, nodeDisk } from "../disk/disk.ts";
import { withPlaces } from "../held-places.ts";
import { folder, optionsFor, put } from "./checkpoint-place.test.ts";
import type { Folder } from "./file-tree.ts";
import { IgnoreRules } from "./ignore-rules.ts";
import { openCheckpoints } from "./open-checkpoints.ts";
import { Pace } from "./pace.ts";
import { readContent } from "./read-content.ts";
import { type Walked, walkFiles } from "./walk-files.ts";

const odd = Buffer.from("odd\xff", "latin1");

describe("a folder that is swapped", () => {
  let root: string;
  let outside: string;

  beforeEach(() => {
    root = mkdtempSync(join(folder, "root-"));
    outside = mkdtempSync(join(folder, "outside-"));
    for (const path of ["d/a", "d/sub/b", "e/c"]) put(root, path, "inside");
    for (const path of ["a", "sub/b", "secret-name", "deep/er/x"]) put(outside, path, "secret");
    writeFileSync(Buffer.concat([Buffer.from(`${root}/d/`), odd]), "inside");
    writeFileSync(Buffer.concat([Buffer.from(`${outside}/`), odd]), "secret");
  });

  function swap(): void {
    if (lstatSync(join(root, "d")).isSymbolicLink()) return;
    renameSync(join(root, "d"), join(root, "away"));
    symlinkSync(outside, join(root, "d"));
  }

  /** Swaps when it is asked the n-th time whether others are to run. */
  class SwappingPace extends Pace {
    #left: number;
    constructor(at: number) {
      super(60_000);
      this.#left = at;
    }
    override get due(): boolean {
      this.#left -= 1;
      if (this.#left === 0) swap();
      return false;
    }
    get isOver(): boolean {
      return this.#left > 0;
    }
  }

  function walk(pace: Pace, before?: Folder): Promise<Walked> {
    return withPlaces(async (places) => {
      const options = {
        root: bytePath(root),
        rules: new IgnoreRules(bytePath(root)),
        pace,
        places,
        maxFiles: 100,
        maxFileBytes: 100,
        tellsOfNames: () => true,
        excluded: new Set<string>(),
      };
      const walked = succeeded(await walkFiles(options, before));
      for (const { path } of walked.unread) {
        const content = readContent(`${bytePath(root)}/${path}`, 100, places);
        if (typeof content === "object") assert.ok(["inside", outside].includes(content.bytes.toString()));
      }
      return walked;
    });
  }

  it("during a walk: no names or contents come from behind the link", async () => {
    const known = succeeded(await walk(new Pace(60_000))).root;
    for (const before of [undefined, known]) {
      for (let at = 1, isOver = false; !isOver; at++) {
        rmSync(join(root, "d"), { recursive: true });
        if (existsSync(join(root, "away"))) renameSync(join(root, "away"), join(root, "d"));
        else for (const path of ["d/a", "d/sub/b"]) put(root, path, "inside");
        const pace = new SwappingPace(at);
        const walked = await walk(pace, before);
        isOver = pace.isOver;
        assert.doesNotMatch(JSON.stringify(allNames(walked.root)), /secret-name|deep/, `at ${at}`);
      }
    }
  });

  function disksThatSwap(at: number): { readonly disk: Disk; readonly calls: () => number } {
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

  it("during a restore, before any call: nothing outside is changed or stored", async () => {
    const before = exactTree(outside);
    let count = 0;
    // Few of many calls: each time takes three checkpoints.
    for (let at = 1, isOver = false; !isOver; at += 7) {
      rmSync(root, { recursive: true });
      for (const path of ["d/a", "d/sub/b", "e/c"]) put(root, path, "inside");
      writeFileSync(Buffer.concat([Buffer.from(`${root}/d/`), odd]), "inside");
      const state = mkdtempSync(join(folder, "state-"));
      const first = succeeded(await openCheckpoints(optionsFor(root, state)));
      const { ref } = succeeded(await first.take("s"));
      await first.close();
      writeFileSync(join(root, "d/a"), "later");
      rmSync(join(root, "d/sub"), { recursive: true });
      mkdirSync(join(root, "d/new"));
      writeFileSync(join(root, "d/new/file"), "later");
      rmSync(Buffer.concat([Buffer.from(`${root}/d/`), odd]));
      const { disk, calls } = disksThatSwap(at);
      const second = succeeded(await openCheckpoints(optionsFor(root, state, { disk })));
      const restored = await second.restore(ref, { session: "s" });
      if (isFailure(restored))
        assert.ok(["stale-version", "outside-workspace"].includes(restored.code), restored.text);
      const found = succeeded(await second.changedPaths(ref));
      assert.doesNotMatch(JSON.stringify(found), /secret-name|deep/);
      await second.close();
      isOver = calls() < at;
      assert.deepEqual(exactTree(outside), before, `call ${at}`);
      count += 1;
    }
    assert.ok(count > 3, `${count}`);
    assert.equal(readFileSync(join(root, "d/a"), "utf8"), "inside");
  });

  it("before its file is read: it is gone", async () => {
    await withPlaces(async (places) => {
      swap();
      assert.equal(readContent(bytePath(join(root, "d/a")), 100, places), undefined);
      assert.equal(readContent(`${bytePath(root)}/d/${odd.toString("latin1")}`, 100, places), undefined);
      const link = readContent(bytePath(join(root, "d")), 1_000, places);
      assert.equal(typeof link === "object" && link.bytes.toString(), outside);
    });
  });
});

function allNames(at: Folder): readonly string[] {
  return [...at.entries].flatMap(([name, node]) => [name, ...(node.kind === "folder" ? allNames(node) : [])]);
}
