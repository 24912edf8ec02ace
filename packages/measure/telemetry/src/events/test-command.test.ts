import assert from "node:assert/strict";
import { test } from "node:test";
import { argumentShape } from "./argument-shape.ts";
import { isTestCommand } from "./test-command.ts";

const rows: readonly (readonly [string, boolean])[] = [
  ["npm test", true],
  ["cd app && npm run test -- --watch=false", true],
  ["CI=1 npx vitest run", true],
  ["node --test src/a.test.ts", true],
  ["python -m pytest -q tests", true],
  ["timeout 60 pytest", true],
  ["go test ./...", true],
  ["cargo test --all", true],
  ["make -j4 check", true],
  ["./gradlew :app:test", true],
  ["npm install", false],
  ["echo npm test", false],
  ["cat test.txt", false],
  ["grep -r pytest .", false],
  ["git commit -m 'make test pass'", false],
];
for (const [command, expected] of rows) {
  test(`${command}: ${expected ? "tests" : "no tests"}`, () =>
    assert.equal(isTestCommand(JSON.stringify({ command })), expected));
}

test("arguments without a command are not tests", () => {
  for (const input of ["", "{", "[]", "null", '{"command":3}']) assert.equal(isTestCommand(input), false);
});

test("the shape of arguments has names, types and sizes", () => {
  const shape = argumentShape(
    JSON.stringify({ path: "a/b.ts", edits: [1, 2], "odd name": "x", n: 3, no: null }),
  );
  assert.equal(shape, "{path: text of <8, edits: list of <4, ?: text of <2, n: number, no: null}");
  assert.equal(argumentShape("{nope"), "not JSON (5 characters)");
  assert.equal(argumentShape('""'), "text of 0");
});
