import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { assertGrowth } from "@lathe/testkit/growth";
import { fc } from "@lathe/testkit/properties";
import { diffLines } from "./document/diff-lines.ts";
import { unifiedDiff, unifiedDiffStart } from "./unified-diff.ts";

function rebuilt(before: readonly string[], after: readonly string[]): readonly string[] {
  const result: string[] = [];
  let at = 0;
  for (const run of diffLines(before, after)) {
    assert.ok(run.before[0] >= at && run.before[1] >= run.before[0] && run.after[1] >= run.after[0]);
    result.push(...before.slice(at, run.before[0]), ...after.slice(...run.after));
    at = run.before[1];
  }
  return [...result, ...before.slice(at)];
}

describe("diffLines", () => {
  it("converts any text to any other", () => {
    const lines = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 30 });
    fc.assert(fc.property(lines, lines, (a, b) => assert.deepEqual(rebuilt(a, b), b)));
  });

  it("is minimal on small inputs", () => {
    assert.deepEqual(diffLines(["a", "b", "c", "d"], ["a", "x", "c", "d", "e"]), [
      { before: [1, 2], after: [1, 2] },
      { before: [4, 4], after: [4, 5] },
    ]);
  });

  it("is bounded and correct for texts with nothing in common", () => {
    const work = (lines: number): void => {
      const a = Array.from({ length: lines }, (_, i) => `a${i % 7}`);
      const b = Array.from({ length: lines }, (_, i) => `b${i % 5}`);
      assert.deepEqual(rebuilt(a, b), b);
    };
    assertGrowth(work, { sizes: [1_250, 20_000], atMost: 64 });
  });
});

describe("unifiedDiff", () => {
  it("shows every changed line of a long text, however many", () => {
    const diff = unifiedDiff("a\n".repeat(200_000), "b\n".repeat(200_000), "x.txt");
    assert.equal(diff.split("\n").length, 400_004);
  });

  it("shows three lines of context and joins near changes", () => {
    const before = Array.from({ length: 20 }, (_, i) => `${i + 1}\n`).join("");
    const after = before.replace("3\n", "three\n").replace("9\n", "nine\n").replace("20\n", "20");
    assert.equal(
      unifiedDiff(before, after, "x.txt"),
      `--- a/x.txt
+++ b/x.txt
@@ -1,12 +1,12 @@
 1
 2
-3
+three
 4
 5
 6
 7
 8
-9
+nine
 10
 11
 12
@@ -17,4 +17,4 @@
 17
 18
 19
-20
+20
\\ No newline at end of file
`,
    );
  });

  it("names a missing file /dev/null", () => {
    assert.equal(unifiedDiff(undefined, "a\n", "x"), "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n");
    assert.equal(unifiedDiff("a\n", undefined, "x"), "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n");
    assert.equal(unifiedDiff("a", "a", "x"), "");
  });

  it("can be applied by git", (t) => {
    const folder = mkdtempSync(join(tmpdir(), "lathe-diff-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const text = fc.array(fc.constantFrom("a\n", "b\n", "c\r\n", "\n"), { minLength: 1, maxLength: 40 });
    const end = fc.constantFrom("", "tail");
    fc.assert(
      fc.property(text, text, end, (one, two, tail) => {
        const [before, after] = [one.join(""), two.join("") + tail];
        if (before === after) return;
        writeFileSync(join(folder, "x"), before);
        writeFileSync(join(folder, "p"), unifiedDiff(before, after, "x"));
        execFileSync("git", ["apply", "--unidiff-zero", "--whitespace=nowarn", "p"], {
          cwd: folder,
          stdio: "pipe",
        });
        assert.equal(readFileSync(join(folder, "x"), "utf8"), after);
      }),
      { numRuns: 60 },
    );
  });
});

it("starts like the whole diff, and says whether there is more", () => {
  const lines = (mod: number): string => Array.from({ length: 60 }, (_, at) => `${at % mod}\n`).join("");
  const sides = { before: lines(7), after: lines(5), path: "a" };
  const whole = unifiedDiff(sides.before, sides.after, "a");
  for (const most of [1, 20, whole.length - 1, whole.length, whole.length + 1]) {
    const { text, isCut } = unifiedDiffStart(sides, most);
    assert.deepEqual([text, isCut], [whole.slice(0, most), most < whole.length]);
  }
});
