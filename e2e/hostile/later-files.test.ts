/**
 * Tests B7, B8, B13, B18: files that run or take effect later are asked about or reported, however they are
 * written.
 */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { type HostilePlace, openHostilePlace } from "./hostile-place.ts";

/**
 * Files that an editor, a shell, version control or another agent of the person obeys outside every sandbox.
 */
const obeyed: readonly string[] = [
  ...["opencode.json", ".opencode/plugin/x.js", ".lvimrc", ".kiro/settings/mcp.json", ".aider.conf.yml"],
  ...[".helix/languages.toml", ".amazonq/mcp.json", ".trae/mcp.json", ".qwen/settings.json", ".crush.json"],
  ...[".vim/coc-settings.json", ".cargo/config.toml", "mise.toml", ".lefthook.yml", ".VSCODE/tasks.json"],
  ...[".Claude/settings.json", "sub/.vscode/tasks.json", "sub/.Mcp.json", ".dir-locals.el", ".cursorrules"],
];
/** Files that ordinary work changes too: allowed, and reported. */
const reported: readonly string[] = ["AGENTS.md", "sub/CLAUDE.md", ".new-hidden-file", "package.json"];

describe("a file that takes effect later", () => {
  let at: HostilePlace;
  beforeEach(async () => {
    at = await openHostilePlace();
    at.put("a.txt", "a\n");
    at.git("init", "-q", "-b", "main");
    at.git("add", "-A");
    at.git("commit", "-qm", "first");
  });
  afterEach(() => at.close());

  const present = (): readonly string[] => obeyed.filter((path) => existsSync(join(at.workspace, path)));

  it("is not written without asking", async () => {
    const lines = obeyed.map((path) => JSON.stringify({ tool: "write", input: { path, content: "x" } }));
    await at.run(["tool", "--stdin-jsonl"], { input: `${lines.join("\n")}\n` });
    assert.deepEqual(present(), []);
  });

  it("is removed again after a command wrote it", async () => {
    const script = `import os\nfor path in ${JSON.stringify(obeyed)}:\n  os.makedirs(os.path.dirname("./" + path), exist_ok=True)\n  open(path, "w").write("x")\nopen("made", "w")\n`;
    at.put("make.py", script);
    at.answers(["shell", { command: "python3 make.py" }]);
    await at.hello(["--allow", "python3 make.py"]);
    assert.ok(existsSync(join(at.workspace, "made")));
    assert.deepEqual(present(), []);
  });

  for (const path of reported) {
    it(`is reported by name: ${path}`, async () => {
      at.answers(["write", { path, content: '{"scripts":{"postinstall":"true"}}' }]);
      const { code, out, err } = await at.hello();
      assert.equal(code, 0, err);
      assert.ok((out + err).includes(path), `${out}${err}`);
    });
  }

  it("B18: is reported if an attempt changed it to pass its tests", async () => {
    at.put("package.json", '{"name":"x","scripts":{"test":"node t.js"}}');
    at.put("t.js", "process.exit(1);\n");
    at.git("add", "-A");
    at.git("commit", "-qm", "tests");
    const weaker = JSON.stringify({ name: "x", scripts: { test: "node -e 0" } });
    const command = `echo '${weaker}' > package.json`;
    at.answers(["shell", { command }], ["shell", { command }]);
    const { out, err } = await at.hello(["--best-of", "2"]);
    assert.match(out + err, /package\.json/);
  });
});
