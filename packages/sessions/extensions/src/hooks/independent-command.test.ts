/** The user's own hooks that no project file can change. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { isIndependent } from "./independent-command.ts";

describe("a hook of the user's own", () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "lathe-independent-")));
  const [cwd, home] = [join(root, "work"), join(root, "home")];
  for (const folder of [cwd, home]) {
    mkdirSync(join(folder, "scripts"), { recursive: true });
    writeFileSync(join(folder, "scripts/check.py"), "");
  }
  writeFileSync(join(cwd, "rules"), "");
  symlinkSync(join(cwd, "scripts"), join(home, "linked"));
  after(() => rmSync(root, { recursive: true, force: true }));
  const place = { cwd, env: { HOME: home } };

  const independent = [
    `printf '%s' '{"decision":"approve"}'`,
    "~/scripts/check.py",
    '"$HOME/scripts/check.py" --strict',
    "python3 ~/scripts/check.py",
    `node ${home}/scripts/check.py "$CLAUDE_PROJECT_DIR"`,
    `jq -r '.tool_input.command' | grep -q '^git push' && echo '{"decision":"approve"}'`,
    'in=$(cat); case "$in" in *forbidden*) echo no >&2; exit 2;; *) exec ~/scripts/check.py;; esac',
    `if grep -q 'npm test'; then echo '{"decision":"approve"}'; fi`,
  ];
  for (const command of independent) {
    it(`may allow: ${command}`, () => assert.equal(isIndependent(command, place), true));
  }

  const dependent = [
    "python3 scripts/check.py",
    '"$CLAUDE_PROJECT_DIR"/scripts/check.py',
    "$CLAUDE_PROJECT_DIR/missing.sh",
    `${cwd}/scripts/check.py`,
    "~/linked/check.py",
    "~/scripts/check.py rules",
    "~/scripts/check.py --rules=later/rules.json",
    "cat rules",
    "grep -q x < rules && ~/scripts/check.py",
    "python3 -c 'import rules'",
    "python3 -m rules",
    "npm run check",
    "/opt/node/bin/npx guard",
    "some-guard",
    "cd scripts && ~/scripts/check.py",
    "PYTHONPATH=. python3 ~/scripts/check.py",
    'echo "$(python3 scripts/check.py)"',
    "echo `./scripts/check.py`",
    "echo $(./scripts/check.py)",
    "sh -c '. ./rules'",
    "$X",
    'case "$(./scripts/check.py)" in *) echo;; esac',
    "jq -L. 'include \"rules\"; .'",
    '~/scripts/check.py "$PWD/rules"',
  ];
  for (const command of dependent) {
    it(`may allow nothing: ${command}`, () => assert.equal(isIndependent(command, place), false));
  }

  it("may allow nothing if its program is in the project's folder", () => {
    assert.equal(isIndependent("~/scripts/check.py", { cwd: home, env: { HOME: home } }), false);
  });
});
