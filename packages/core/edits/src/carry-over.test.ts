/** Edits of a file that changed since the model saw it. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isFailure } from "@lathe/protocol";
import { fc } from "@lathe/testkit/properties";
import { applyPatch, applyReplacements } from "./apply-edits.ts";

const path = "a.py";

function edited(shown: string, text: string, [old, fresh]: readonly [string, string]): string {
  const result = applyReplacements({ path, text, shown }, [{ old, new: fresh }]);
  return isFailure(result) ? result.code : result.text;
}

function patched(shown: string, text: string, patch: string): string {
  const result = applyPatch({ path, text, shown }, { patch, dialect: "v4a" });
  return isFailure(result) ? result.code : result.text;
}

describe("an edit carried over", () => {
  it("follows its lines, and is refused if they or their neighbors changed", () => {
    const shown = "a()\nb()\nc()\nd()\n";
    assert.equal(edited(shown, `x()\n${shown}`, ["c()", "C()"]), "x()\na()\nb()\nC()\nd()\n");
    assert.equal(edited(shown, "a()\nB()\nc()\nd()\n", ["c()", "C()"]), "stale-version");
    assert.equal(edited(shown, "a()\nb()\nx()\nc()\nd()\n", ["c()", "C()"]), "stale-version");
    assert.equal(edited(shown, "a()\nb()\nd()\nc()\n", ["c()", "C()"]), "stale-version");
  });

  it("adds a newline to a last line that is now followed by others", () => {
    assert.equal(edited("a\nb\n", "a\nb\nd\n", ["b\n", "c"]), "a\nc\nd\n");
    const patch = "@@\n a\n-b\n+c\n\\ No newline at end of file\n";
    const result = applyPatch({ path, text: "a\nb\nd\n", shown: "a\nb\n" }, { patch, dialect: "udiff" });
    assert.ok(isFailure(result) && result.code === "stale-version");
  });

  it("uses its header if that chose among equal places", () => {
    const body = (name: string): string => `def ${name}():\n    x = 1\n    y = 2\n    return x\n`;
    const patch = `*** Update File: ${path}\n@@ def b():\n-    y = 2\n+    y = 3\n`;
    const shown = `${body("a")}\n${body("b")}`;
    assert.equal(
      patched(shown, `${body("b")}\n${body("a")}`, patch),
      `${body("b").replace("y = 2", "y = 3")}\n${body("a")}`,
    );
    assert.equal(patched(shown, body("c"), patch), "stale-version");
  });

  it("may match a newer text, but only exactly", () => {
    assert.equal(edited("const b = 1;\n", "const account = 1;\n", ["count = 1", "x = 2"]), "no-match");
    assert.equal(edited("old()\n", "brand_new()\n", ["brand_new()", "done()"]), "done()\n");
  });

  it("shows the current lines near the old place", () => {
    const shown = Array.from({ length: 300 }, (_, i) => `line ${i + 1}`);
    const text = shown.map((line) => line.toUpperCase());
    const result = applyReplacements({ path, text: text.join("\n"), shown: shown.join("\n") }, [
      { old: "line 250", new: "x" },
    ]);
    assert.ok(isFailure(result));
    assert.match(result.text, /^250\tLINE 250$/m);
    assert.ok(result.text.split("\n").length <= 40);
  });

  it("keeps every line that another program wrote", () => {
    const lines = fc.uniqueArray(fc.integer({ min: 0, max: 999 }), { minLength: 3, maxLength: 20 });
    const theirs = fc.array(fc.tuple(fc.nat(20), fc.constantFrom("insert", "change", "delete")), {
      maxLength: 4,
    });
    let count = 0;
    fc.assert(
      fc.property(lines, theirs, fc.nat(20), (numbers, changes, at) => {
        const shown = numbers.map((number) => `value ${number}`);
        const current = changedBy(changes, shown);
        const old = shown[at % shown.length] ?? "";
        const result = edited(textOf(shown), textOf(current), [old, "mine"]);
        if (/^[a-z-]+$/.test(result)) return;
        count++;
        assert.equal(result, textOf(current.map((line) => (line === old ? "mine" : line))));
      }),
      { numRuns: 400 },
    );
    assert.ok(count > 100, `${count} of 400 applied`);
  });
});

function textOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

function changedBy(
  changes: readonly (readonly [number, string])[],
  lines: readonly string[],
): readonly string[] {
  const now: (readonly string[])[] = lines.map((line) => [line]);
  for (const [i, kind] of changes) {
    const line = lines[i];
    if (line === undefined) continue;
    now[i] = kind === "insert" ? [`theirs ${i}`, line] : kind === "change" ? [`theirs ${i}`] : [];
  }
  return now.flat();
}
