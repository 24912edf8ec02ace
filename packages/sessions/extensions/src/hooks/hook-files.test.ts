/** The project files that define a hook's behaviour, however its command names them. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { fc } from "@lathe/testkit/properties";
import { hookFiles } from "./hook-files.ts";

describe("files of a hook", () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "lathe-hook-files-")));
  // A name that a shell would split.
  const cwd = join(root, "my work");
  after(() => rmSync(root, { recursive: true, force: true }));
  for (const path of ["tools/hooks/lib.sh", "my hooks/check.sh", "check.sh", "a.js", "$CLAUDE_PROJECT_DIR"]) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), path);
  }
  writeFileSync(join(root, "out.sh"), "");
  symlinkSync("../out.sh", join(cwd, "link.sh"));
  const found = (command: string): readonly string[] =>
    hookFiles(command, cwd).files.flatMap(({ path, bytes }) => (bytes ? [path] : []));

  const known: readonly (readonly [string, readonly string[]])[] = [
    ["cat 'my hooks/check.sh' | head -1", ["my hooks/check.sh"]],
    ["cd tools/hooks && cat < lib.sh", ["tools/hooks/lib.sh"]],
    ["/usr/bin/grep -q x a.js < check.sh 2>&1 || exit 2", ["a.js", "check.sh"]],
    ["echo hello > check.sh", []],
    [`printf '%s' '{"a": "b"}'`, []],
  ];
  for (const [command, files] of known) {
    it(`are all found in ${command}`, () => {
      assert.deepEqual(found(command), files);
      assert.equal(hookFiles(command, cwd).isAll, true);
    });
  }

  const unknown: readonly (readonly [string, readonly string[]])[] = [
    ["sh check.sh", ["check.sh"]],
    ["./check.sh --flag", ["check.sh"]],
    ["cd tools/hooks && . ./lib.sh", ["tools/hooks/lib.sh"]],
    ["(cd tools; cd hooks; . ./lib.sh)", ["tools/hooks/lib.sh"]],
    ["'my hooks/check.sh'", ["my hooks/check.sh"]],
    ["my\\ hooks/check.sh", ["my hooks/check.sh"]],
    ['"$CLAUDE_PROJECT_DIR/my hooks/check.sh"', ["my hooks/check.sh"]],
    ['"$CLAUDE_PROJECT_DIR"/my" hooks"/check.sh', ["my hooks/check.sh"]],
    [`cd "\${CLAUDE_PROJECT_DIR}/tools/hooks" && sh lib.sh`, ["tools/hooks/lib.sh"]],
    ["sh '$CLAUDE_PROJECT_DIR'", ["$CLAUDE_PROJECT_DIR"]],
    ["/usr/bin/node a.js < check.sh 2>&1 | grep -q x", ["a.js", "check.sh"]],
    ["$CLAUDE_PROJECT_DIR/check.sh", ["check.sh"]],
    ["sh -c '. ./check.sh'", ["check.sh"]],
    ['echo "$(sh check.sh)"', ["check.sh"]],
    ["echo `./check.sh`", ["check.sh"]],
    ["bash -O extglob check.sh", ["check.sh"]],
    ["X=./check.sh; $X", ["check.sh"]],
    ["BASH_ENV=check.sh bash a.js", ["check.sh", "a.js"]],
    ["env sh check.sh", ["check.sh"]],
    ["node --require=./a.js check.sh", ["a.js", "check.sh"]],
    ["sh ch*.sh", []],
    ["npm run hook", []],
    ["python3 tools", []],
    ["sh link.sh", []],
    ["sh ../out.sh", []],
    ["sh missing.sh", []],
    ["sh 'check.sh", []],
  ];
  for (const [command, files] of unknown) {
    it(`are not all found in ${command}`, () => {
      assert.deepEqual([...found(command)].toSorted(), [...files].toSorted());
      assert.equal(hookFiles(command, cwd).isAll, false);
    });
  }

  it("are searched in a bounded number of folders", () => {
    assert.equal(hookFiles("cd a; ".repeat(5000), cwd).isAll, false);
    assert.equal(hookFiles("'".repeat(9001), cwd).isAll, false);
    const many = hookFiles(`cat ${Array.from({ length: 20_000 }, (_, i) => `f${i}`).join(" ")}`, cwd);
    assert.deepEqual([many.files.length, many.isAll], [200, false]);
    assert.equal(hookFiles("1".repeat(200_000), cwd).isAll, false);
    assert.equal(hookFiles(" ".repeat(100_000), cwd).files.length, 0);
  });

  it("are found in any command at all", () => {
    const pieces = fc.constantFrom(
      "sh ",
      "'",
      '"',
      "`",
      "$(",
      ")",
      "check.sh",
      ";",
      "\\",
      "\n",
      "cd ",
      ">",
      "a b",
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 20 }), (parts) => {
        const command = `${parts.join("")}\n`;
        assert.ok(hookFiles(command, cwd).files.every(({ path }) => !path.startsWith("/")));
      }),
    );
  });
});
