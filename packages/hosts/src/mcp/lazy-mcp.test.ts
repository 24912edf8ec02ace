/** Where servers start: the user's own away from the workspace, a project's in it and only as they were trusted. */
import assert from "node:assert/strict";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, sep } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import type { ServerSpec } from "@lathe/mcp";
import type { McpServers } from "@lathe/protocol";
import { createLazyMcp } from "./lazy-mcp.ts";
import { digestOf, namedFiles } from "./mcp-place.ts";

const program = fileURLToPath(new URL("../../../mcp/src/fixtures/server.mjs", import.meta.url));
const command = process.execPath;
const never = new AbortController().signal;

describe("a server that starts", () => {
  let root: string;
  let cwd: string;
  let opened: McpServers[];
  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), "lathe-mcp-")));
    cwd = join(root, "workspace");
    mkdirSync(join(cwd, "tools"), { recursive: true });
    opened = [];
  });
  afterEach(async () => {
    for (const servers of opened) await servers.close();
    rmSync(root, { recursive: true });
  });

  const open = (spec: ServerSpec, home = join(root, "home")): McpServers => {
    const env = { PATH: process.env.PATH, HOME: home };
    const servers = createLazyMcp({ cwd, env, version: "1", mcpServers: { one: spec } });
    opened.push(servers);
    return servers;
  };
  const where = async (servers: McpServers): Promise<string> => {
    const outcome = await servers.call({ server: "one", tool: "where", input: {} }, never);
    assert.ok(outcome.type === "ok", JSON.stringify(outcome));
    return JSON.parse(outcome.text).cwd;
  };

  it("is not in the workspace where it is the user's own, so that nothing there is taken for its program", async () => {
    const place = await where(open({ command, args: [program] }));
    assert.ok(place.startsWith(join(root, "home", ".local/state/lathe") + sep), place);
    // The package manager's own way of looking a program up.
    const bin = join(cwd, "node_modules/.bin");
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, "some-server"), "#!/bin/sh\n", { mode: 0o755 });
    assert.throws(() => readFileSync(join(place, "node_modules/.bin/some-server")));
    assert.equal(await where(open({ command, args: [program] }, cwd)), sep);
    assert.equal(
      await where(open({ command, args: [program], cwd: join(cwd, "tools") })),
      join(cwd, "tools"),
    );
  });

  describe("and is a project's", () => {
    const spec = { command, args: ["tools/mcp.mjs"], env: { NODE_OPTIONS: "--require=./tools/first.cjs" } };
    const trusted = (): ServerSpec => ({ ...spec, trusted: digestOf(namedFiles(cwd, spec)) });
    const failure = async (servers: McpServers): Promise<string> => {
      const outcome = await servers.call({ server: "one", tool: "where", input: {} }, never);
      return outcome.type === "failed" ? outcome.failure.text : JSON.stringify(outcome);
    };
    beforeEach(() => {
      writeFileSync(join(cwd, "tools/mcp.mjs"), `import ${JSON.stringify(program)};\n`);
      writeFileSync(join(cwd, "tools/first.cjs"), "\n");
    });

    it("works in the workspace", async () => {
      assert.equal(await where(open(trusted())), cwd);
    });

    it("is not started once a file it names has changed, also not for the second time in a session", async () => {
      const servers = open(trusted());
      await where(servers);
      await servers.call({ server: "one", tool: "crash", input: {} }, never);
      writeFileSync(join(cwd, "tools/mcp.mjs"), `import ${JSON.stringify(program)};\n// other\n`);
      assert.match(await failure(servers), /one is not started: files of this project.*`lathe mcp trust`/);
      assert.match(await failure(servers), /is not started/);
      await where(open(trusted()));
    });

    it("is known by every file that it names or that is run for it", () => {
      const paths = (one: ServerSpec): readonly string[] => namedFiles(cwd, one).map(({ path }) => path);
      assert.deepEqual(paths(spec), ["tools/first.cjs", "tools/mcp.mjs"]);
      mkdirSync(join(cwd, "node_modules/srv"), { recursive: true });
      writeFileSync(join(cwd, "node_modules/srv/package.json"), "{}");
      writeFileSync(join(cwd, "package.json"), "{}");
      writeFileSync(join(cwd, "mod.py"), "");
      writeFileSync(join(root, "outside.js"), "1");
      symlinkSync(join(root, "outside.js"), join(cwd, "link.js"));
      assert.deepEqual(paths({ command: "npx", args: ["-y", "srv"] }), [
        "node_modules/srv/package.json",
        "package.json",
      ]);
      assert.deepEqual(paths({ command: "python3", args: ["-m", "mod"] }), ["mod.py"]);
      assert.deepEqual(paths({ command: "sh", args: ["-c", "exec ruby ./link.js"] }), ["link.js"]);
      assert.deepEqual(paths({ command: "./mcp.mjs", cwd: "tools" }), ["tools/mcp.mjs"]);
      assert.deepEqual(
        paths({ command: "cat", args: [join(root, "outside.js"), "../outside.js", "nothing", ""] }),
        [],
      );
      const before = digestOf(namedFiles(cwd, { command: "./link.js" }));
      writeFileSync(join(root, "outside.js"), "2");
      assert.notEqual(digestOf(namedFiles(cwd, { command: "./link.js" })), before);
    });
  });
});
