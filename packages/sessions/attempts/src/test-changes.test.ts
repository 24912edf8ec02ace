/** An attempt's changes to the tests, and the script that reverts them. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import type { CopyDifference } from "@lathe/protocol";
import { type TestChanges, testChanges } from "./test-changes.ts";

const root = mkdtempSync(join(tmpdir(), "lathe-test-changes-"));
after(() => rmSync(root, { recursive: true, force: true }));

type Files = Readonly<Record<string, string>>;
let count = 0;

interface Made {
  readonly upper: string;
  readonly changes: TestChanges;
}

/** `upper` is the whole of the attempt's copy. */
function made(before: Files, then: Files, command = "npm test"): Made {
  const upper = join(root, String(count++));
  mkdirSync(upper);
  for (const [path, text] of Object.entries(then)) {
    mkdirSync(dirname(join(upper, path)), { recursive: true });
    writeFileSync(join(upper, path), text);
  }
  const paths = [...new Set([...Object.keys(before), ...Object.keys(then)])];
  const side = (text: string | undefined) =>
    ({ kind: text === undefined ? "absent" : "file", mode: 0o644 }) as const;
  const differences = paths
    .filter((path) => before[path] !== then[path])
    .map((path): CopyDifference => {
      const what = before[path] === undefined ? "added" : then[path] === undefined ? "deleted" : "modified";
      return { path, what, base: side(before[path]), fork: side(then[path]), isMoved: false };
    });
  const bytesOf = (side: "base" | "fork", path: string): Uint8Array | undefined => {
    const text = (side === "base" ? before : then)[path];
    return text === undefined ? undefined : Buffer.from(text);
  };
  const compared = { differences, held: new Map(), runLater: new Map(), bytesOf };
  return { upper, changes: testChanges(compared, command) };
}

function json(scripts: Files, more: object = {}): string {
  return JSON.stringify({ name: "x", scripts, ...more });
}

const plain: Files = {
  "package.json": json({ test: "node t.js", build: "tsc" }),
  "t.js": "process.exit(1)",
  "src/a.js": "1",
  "src/lib.rs": "#[test]\nfn a() {}\n",
  "test/a.test.js": "test()",
  "test/fixtures/x.json": "1",
  "pyproject.toml": "[project]\nname='x'\n[tool.pytest.ini_options]\naddopts='-q'\n[tool.black]\nx=1\n",
  "pom.xml": "<a>\n</a>\n",
  Makefile: "test:\n\ttrue\n",
};

describe("changes of tests", () => {
  const marked: readonly (readonly [string, string | undefined])[] = [
    ["package.json", json({ test: "node -e 0", build: "tsc" })],
    ["package.json", json({ test: "node t.js", build: "tsc" }, { jest: { testMatch: [] } })],
    ["package.json", "{"],
    ["package.json", undefined],
    ["t.js", "0"],
    ["test/a.test.js", undefined],
    ["test/a.test.js", "test.skip()"],
    ["test/fixtures/x.json", "2"],
    ["src/lib.rs", "#[test]\n#[ignore]\nfn a() {}\n"],
    ["src/lib.rs", "fn a() {}\n"],
    ["pyproject.toml", "[project]\nname='x'\n[tool.pytest.ini_options]\naddopts='--co'\n[tool.black]\nx=1\n"],
    ["pom.xml", "<a>\n<skipTests>true</skipTests>\n</a>\n"],
    ["Makefile", "test:\n\n"],
    ["conftest.py", "collect_ignore_glob = ['*']"],
    ["jest.config.js", "x"],
    ["vitest.config.ts", "x"],
    ["tox.ini", "x"],
    [".mocharc.json", "{}"],
    [".github/workflows/ci.yml", "x"],
    ["pkg/pytest.ini", "x"],
    ["sitecustomize.py", "x"],
  ];
  for (const [path, text] of marked) {
    it(`are ${path}: ${text === undefined ? "deleted" : JSON.stringify(text).slice(0, 60)}`, () => {
      const { [path]: _, ...rest } = plain;
      const then = text === undefined ? rest : { ...plain, [path]: text };
      assert.deepEqual(made(plain, then).changes.paths, [path]);
    });
  }

  it("do not include the program itself, its dependencies, or new tests", () => {
    const then = {
      ...plain,
      "src/a.js": "2",
      "package.json": json({ test: "node t.js", build: "tsc" }, { dependencies: { left: "1" } }),
      "pyproject.toml": plain["pyproject.toml"]?.replace("x=1", "x=2").replace("'x'", "'y'") ?? "",
      "test/b.test.js": "test()",
      "pom.xml": "<a>\n<version>2</version>\n</a>\n",
      "docs/testing.md": "x",
    };
    assert.deepEqual(made(plain, then).changes, { paths: [] });
  });

  it("do not include a file that the test command only reads", () => {
    const scripts = { test: "CI=1 grep -q right add.js && node t.js" };
    const before = { "package.json": json(scripts), "add.js": "wrong", "t.js": "1" };
    assert.deepEqual(made(before, { ...before, "add.js": "right" }).changes.paths, []);
    assert.deepEqual(made(before, { ...before, "t.js": "2" }).changes.paths, ["t.js"]);
  });

  it("are reverted in a copy, together with other changes", () => {
    const then: Files = {
      ...plain,
      "package.json": json({ test: "node -e 0" }, { dependencies: { left: "1" } }),
      "t.js": "0",
      "src/a.js": "2",
      "conftest.py": "x",
    };
    const { upper, changes } = made(plain, then);
    const outside = join(root, "outside");
    mkdirSync(outside);
    rmSync(join(upper, "test"), { recursive: true });
    const copy = `${upper}-copy`;
    cpSync(upper, copy, { recursive: true });
    execFileSync("sh", ["-c", changes.restore ?? ""], { cwd: copy });
    const text = (path: string): string => readFileSync(join(copy, path), "utf8");
    assert.equal(text("t.js"), plain["t.js"]);
    assert.equal(text("src/a.js"), "2");
    assert.equal(existsSync(join(copy, "conftest.py")), false);
    assert.deepEqual(JSON.parse(text("package.json")), {
      name: "x",
      dependencies: { left: "1" },
      scripts: { test: "node t.js", build: "tsc" },
    });
  });

  it("are reverted through no link that an attempt made of their folder", () => {
    const { test: _, ...then } = { ...plain, test: "" } as Files;
    const { "test/a.test.js": __, "test/fixtures/x.json": ___, ...less } = then;
    const { upper, changes } = made(plain, less);
    const outside = mkdtempSync(join(root, "outside-"));
    symlinkSync(outside, join(upper, "test"));
    execFileSync("sh", ["-c", changes.restore ?? ""], { cwd: upper });
    assert.equal(existsSync(join(outside, "a.test.js")), false);
    assert.equal(readFileSync(join(upper, "test/a.test.js"), "utf8"), plain["test/a.test.js"]);
  });
});
