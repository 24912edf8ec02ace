/** Tests that every fork implementation must pass, whatever mechanism shows the fork. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { Failure } from "@lathe/protocol";
import { fc } from "#properties";
import { datedTree, exactTree } from "./checkpoint-cases.ts";
import { changeScripts } from "./fork-operations.ts";

export interface ForkUnderTest {
  /** *Contract:* runs the script with `sh` in the fork, started in its folder. */
  run(script: string): Promise<void>;
  /** *Contract:* paths of one character per byte. */
  differences(): Promise<readonly string[]>;
  keep(): Promise<Failure | undefined>;
  drop(): Promise<void>;
  /** *Contract:* keeps the fork open until `close`. */
  enter(): Promise<{ close(): Promise<void> }>;
}

export interface ForkConformanceOptions {
  readonly skip: string | false;
}

/** `make` forks a folder. */
export function forkConformance(
  title: string,
  make: (base: string) => Promise<ForkUnderTest>,
  { skip }: ForkConformanceOptions,
): void {
  describe(`forks of ${title}`, { skip }, () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "lathe-forks-")));
    after(() => rmSync(folder, { recursive: true, force: true }));
    let made = 0;
    const newBase = (files: Readonly<Record<string, string>> = {}): string => {
      const base = join(folder, `base ${++made}`);
      mkdirSync(base);
      for (const [path, words] of Object.entries(files)) {
        mkdirSync(join(base, path, ".."), { recursive: true });
        writeFileSync(join(base, path), words);
      }
      return base;
    };
    const cases: Cases = { make, newBase };
    sameAsDirect(cases);
    oneFork(cases);
    severalForks(cases);
  });
}

interface Cases {
  readonly make: (base: string) => Promise<ForkUnderTest>;
  readonly newBase: (files?: Readonly<Record<string, string>>) => string;
}

function sameAsDirect({ make, newBase }: Cases): void {
  it("an applied fork equals the direct change; a discarded one leaves no trace", async () => {
    await fc.assert(
      fc.asyncProperty(changeScripts(12), changeScripts(12), async (first, second) => {
        const [base, direct] = [newBase(), newBase()];
        for (const place of [base, direct]) runIn(place, first);
        runIn(direct, second);
        const before = datedTree(base);
        const dropped = await make(base);
        await dropped.run(second);
        await dropped.drop();
        assert.deepEqual(datedTree(base), before);
        const kept = await make(base);
        await kept.run(second);
        assert.deepEqual(datedTree(base), before);
        assert.equal(await kept.keep(), undefined);
        assert.deepEqual(exactTree(base), exactTree(direct));
      }),
      { numRuns: 10 },
    );
  });
}

function oneFork({ make, newBase }: Cases): void {
  it("lists its changes, but no file that was only touched", async () => {
    const fork = await make(newBase({ a: "1", b: "1", "d/x": "1", "d/y": "1", e: "1" }));
    await fork.run(
      "echo 2 > a; rm b; rm -r d; mkdir d; echo 3 > d/x; touch e; chmod 600 e; chmod 644 e; ln -s a l",
    );
    assert.deepEqual(await fork.differences(), ["a", "b", "d/x", "d/y", "l"]);
    await fork.drop();
  });

  it("applies large files, read-only ones and files in read-only folders", async () => {
    const base = newBase({ "closed/file": "1", locked: "1" });
    chmodSync(join(base, "locked"), 0o444);
    const fork = await make(base);
    await fork.run(
      "head -c 30000000 /dev/zero > large; chmod 644 locked; echo 2 > locked; chmod 444 locked; echo 2 > closed/file; chmod 555 closed",
    );
    assert.equal(await fork.keep(), undefined);
    assert.equal(statSync(join(base, "large")).size, 30_000_000);
    assert.equal(readFileSync(join(base, "locked"), "utf8"), "2\n");
    assert.equal(statSync(join(base, "locked")).mode & 0o777, 0o444);
    assert.equal(readFileSync(join(base, "closed/file"), "utf8"), "2\n");
    assert.equal(statSync(join(base, "closed")).mode & 0o777, 0o555);
    chmodSync(join(base, "closed"), 0o755);
  });

  it("cannot be applied with a link whose target is not UTF-8, and names the link", async () => {
    const base = newBase({ a: "1" });
    const fork = await make(base);
    await fork.run("echo 2 > a; ln -s 'f\u00ff' link");
    const refused = await fork.keep();
    assert.equal(refused?.code, "not-text");
    assert.match(refused.text, /^link is a link/);
    assert.equal(readFileSync(join(base, "a"), "utf8"), "1");
    await fork.drop();
  });

  it("cannot be applied over changes in the base, and names them", async () => {
    const base = newBase({ a: "1", b: "1", "c/x": "1" });
    const fork = await make(base);
    await fork.run("echo fork > a; echo fork > b; rm -r c; echo new > n");
    await tick();
    writeFileSync(join(base, "a"), "base");
    writeFileSync(join(base, "c/later"), "base");
    writeFileSync(join(base, "n"), "base");
    const before = datedTree(base);
    const refused = await fork.keep();
    assert.equal(refused?.code, "stale-version");
    assert.match(refused.text, /: a, c\/later, n\. /);
    assert.deepEqual(datedTree(base), before);
    await fork.drop();
  });
}

function severalForks({ make, newBase }: Cases): void {
  it("of one folder can be applied one after another if they touch different files", async () => {
    const base = newBase({ a: "1", b: "1", c: "1", "d/x": "1" });
    const [one, other, third] = [await make(base), await make(base), await make(base)];
    await Promise.all([one.run("echo one > a; echo > d/one"), other.run("echo other > b; echo > d/other")]);
    await third.run("echo third > a");
    await tick();
    assert.equal(await one.keep(), undefined);
    assert.equal(await other.keep(), undefined);
    assert.equal((await third.keep())?.code, "stale-version");
    assert.deepEqual(
      ["a", "b", "c"].map((name) => readFileSync(join(base, name), "utf8")),
      ["one\n", "other\n", "1"],
    );
    assert.deepEqual(Object.keys(exactTree(join(base, "d"))), ["one", "other", "x"]);
    await third.drop();
  });

  it("that are open block changes of the folder, and a second opening of themselves", async () => {
    const base = newBase({ a: "1" });
    const [one, other] = [await make(base), await make(base)];
    await one.run("echo 2 > a");
    const open = await other.enter();
    assert.equal((await one.keep())?.code, "no-access");
    await assert.rejects(other.run("true"));
    assert.equal(readFileSync(join(base, "a"), "utf8"), "1");
    await open.close();
    assert.equal(await one.keep(), undefined);
    assert.equal(readFileSync(join(base, "a"), "utf8"), "2\n");
    await other.drop();
  });
}

function runIn(cwd: string, script: string): void {
  execFileSync("sh", { cwd, input: Buffer.from(script, "latin1") });
}

/** The kernel's file clock advances in ticks. */
async function tick(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 20));
}
