/** Any change of files, links, folders and modes is atomic, whatever fails and whenever the process dies. */
import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { type Failure, failure, isFailure } from "@lathe/protocol";
import { failedWith, recordDisk, treeOf } from "@lathe/testkit";
import { fc } from "@lathe/testkit/properties";
import { type Disk, nodeDisk } from "../disk/disk.ts";
import { withPlacesSync } from "../held-places.ts";
import { fileJournal } from "../journal/file-journal.ts";
import { type Journal, noJournal } from "../journal/journal.ts";
import type { Recovery } from "../journal/recover-journals.ts";
import { type State, stateOf } from "../reading/state.ts";
import { applySteps, type Effects } from "./apply-steps.ts";
import { type After, fileAfter, type Step } from "./step.ts";

const temporary = realpathSync(
  mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "lathe-steps-")),
);
after(() => rmSync(temporary, { recursive: true, force: true }));
const place = join(temporary, "place");
const root = join(place, "root");
const folder = join(place, "state");

/** What is at a path: nothing, a file with a mode, or a link; folders are where something is in them. */
type Thing =
  | { readonly type: "file"; readonly text: string; readonly mode: number }
  | { readonly type: "link"; readonly target: string }
  | { readonly type: "folder" };
type Things = Readonly<Record<string, Thing>>;

const thing: fc.Arbitrary<Thing> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.constantFrom("", "1", "22"), fc.constantFrom(0o600, 0o644, 0o755))
      .map(([text, mode]): Thing => ({ type: "file", text, mode })),
  },
  fc.constantFrom("x", "/nowhere").map((target): Thing => ({ type: "link", target })),
  fc.constant<Thing>({ type: "folder" }),
);

/** Things at some of these paths, a path below another only where that is a folder. */
const paths = ["a", "a/b", "a/b/c", "d", "d/e", "f"];
const things: fc.Arbitrary<Things> = fc
  .tuple(...paths.map(() => fc.option(thing, { nil: undefined })))
  .map((drawn) => {
    const found: Record<string, Thing> = {};
    paths.forEach((path, index) => {
      const one = drawn[index];
      const isBelow = dirname(path) === "." || found[dirname(path)]?.type === "folder";
      if (one && isBelow) found[path] = one;
    });
    return found;
  });

function fill(files: Things): void {
  rmSync(place, { recursive: true, force: true });
  mkdirSync(root, { recursive: true });
  for (const [path, one] of Object.entries(files)) {
    const absolute = join(root, path);
    if (one.type === "folder") mkdirSync(absolute);
    if (one.type === "link") symlinkSync(one.target, absolute);
    if (one.type !== "file") continue;
    writeFileSync(absolute, one.text);
    chmodSync(absolute, one.mode);
  }
}

function found(): Things {
  const entries = Object.entries(treeOf(root)).map(([name, text]): [string, Thing] => {
    const path = name.replace(/\/$/, "");
    if (name !== path) return [path, { type: "folder" }];
    const stats = lstatSync(join(root, path));
    if (stats.isSymbolicLink()) return [path, { type: "link", target: text.slice(3) }];
    return [path, { type: "file", text, mode: stats.mode & 0o7777 }];
  });
  return Object.fromEntries(entries);
}

function stateAt(absolute: string): State {
  return withPlacesSync((places) => stateOf(absolute, places));
}

function stepsTo(next: Things): readonly Step[] {
  return paths.flatMap((path) => {
    const absolute = join(root, path);
    const before = stateAt(absolute);
    const wanted = next[path];
    if (before.type === "absent" && !wanted) return [];
    return [{ path, absolute, before, after: afterOf(wanted, before) }];
  });
}

function afterOf(wanted: Thing | undefined, before: Step["before"]): After {
  if (!wanted) return { type: "absent" };
  if (wanted.type !== "file") return wanted;
  const file = fileAfter(Buffer.from(wanted.text), wanted.mode);
  const isModeAlone = before.type === "file" && before.version === file.version;
  return isModeAlone ? { type: "mode", mode: wanted.mode } : file;
}

function journalOn(disk: Disk, recoveries: Recovery[] = []): Journal {
  return fileJournal({
    folder,
    root,
    disk,
    isAlive: () => false,
    onRecovered: (one) => recoveries.push(one),
  });
}

function run(next: Things, disk: Disk, journal: Journal): Promise<Failure | undefined> {
  return applySteps(stepsTo(next), { disk, journal, withLease: (effect) => effect() });
}

/** Every call but removals of temporary files may fail; `fails` counts down. */
function faultyDisk(fails: number): Disk {
  let left = fails;
  const entries = Object.entries(nodeDisk).map(([name, call]) => [
    name,
    (from: string, to: string, mode: never) => {
      left -= 1;
      if (left === 0) throw Object.assign(new Error(`injected into ${name}`), { code: "ENOSPC" });
      return (call as (...all: unknown[]) => void)(from, to, mode);
    },
  ]);
  return Object.fromEntries(entries) as Disk;
}

describe("steps", () => {
  it("lead from any tree to any other", async () => {
    const property = fc.asyncProperty(things, things, fc.boolean(), async (now, next, isJournalled) => {
      fill(now);
      assert.equal(await run(next, nodeDisk, isJournalled ? journalOn(nodeDisk) : noJournal()), undefined);
      assert.deepEqual(found(), next);
    });
    await fc.assert(property, { numRuns: 60 });
  });

  it("are done or not done, whichever call fails", async () => {
    const property = fc.asyncProperty(
      things,
      things,
      fc.integer({ min: 1, max: 40 }),
      async (now, next, fails) => {
        fill(now);
        const disk = faultyDisk(fails);
        const failed = await run(next, disk, journalOn(disk));
        // The next process removes leftovers that could not be removed at once.
        await journalOn(nodeDisk).recover();
        if (failed && actionCount(now, next) > 1) assert.deepEqual(found(), now);
        else if (!failed) assert.deepEqual(found(), next);
      },
    );
    await fc.assert(property, { numRuns: 120 });
  });

  it("are done or not done whenever the process dies or the power is cut", async () => {
    let count = 0;
    const property = fc.asyncProperty(things, things, fc.nat(), async (now, next, luck) => {
      fill(now);
      const recording = recordDisk(nodeDisk, place);
      assert.equal(await run(next, recording.disk, journalOn(recording.disk)), undefined);
      const allowed = [now, next].map((one) => JSON.stringify(one));
      const states = [...recording.states({ everyInstant: true, tears: 1 })];
      for (let i = luck % 7; i < states.length; i += 7) {
        rmSync(place, { recursive: true, force: true });
        mkdirSync(root, { recursive: true });
        states[i]?.materialise(place, place);
        const recoveries: Recovery[] = [];
        await journalOn(nodeDisk, recoveries).recover();
        const here = JSON.stringify(found());
        assert.ok(allowed.includes(here), `${states[i]?.text}: ${here} is none of ${allowed.join(" ")}`);
        assert.deepEqual(
          recoveries.flatMap(({ left, failed }) => [...left, ...failed]),
          [],
        );
        count += 1;
      }
    });
    await fc.assert(property, { numRuns: 20 });
    assert.ok(count > 130, `${count}`);
  });
});

function actionCount(now: Things, next: Things): number {
  return new Set([...Object.keys(now), ...Object.keys(next)]).size;
}

describe("a step", () => {
  it("changes only permissions, and never sets others than those", async () => {
    fill({ a: { type: "file", text: "a", mode: 0o644 } });
    const inode = lstatSync(join(root, "a")).ino;
    const step = { path: "a", absolute: join(root, "a"), before: stateAt(join(root, "a")) };
    const after: After = { type: "mode", mode: 0o4755 };
    const effects: Effects = { disk: nodeDisk, journal: noJournal(), withLease: (effect) => effect() };
    assert.equal(await applySteps([{ ...step, after }], effects), undefined);
    assert.equal(lstatSync(join(root, "a")).mode & 0o7777, 0o755);
    assert.equal(lstatSync(join(root, "a")).ino, inode);
  });

  it("does not remove a folder with something in it", async () => {
    fill({ a: { type: "folder" }, f: { type: "file", text: "f", mode: 0o644 } });
    const steps = stepsTo({});
    writeFileSync(join(root, "a/theirs"), "x");
    const failed = await applySteps(steps, {
      disk: nodeDisk,
      journal: journalOn(nodeDisk),
      withLease: (effect) => effect(),
    });
    failedWith("no-access", failed ?? failure("bug", "it was removed"));
    assert.deepEqual(treeOf(root), { "a/": "", "a/theirs": "x", f: "f" });
    assert.ok(isFailure(failed));
    assert.equal(readdirSync(folder).length, 1);
  });
});
