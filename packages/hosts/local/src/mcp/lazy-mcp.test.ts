/** Where servers start: the user's own outside the workspace, a project's inside it and only as trusted. */
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
import {
  changedIn,
  digestOf,
  knowServers,
  type ServerFiles,
  serverFiles,
  serversWithin,
} from "@lathe/extensions/servers";
import type { McpServers, ServerSpec } from "@lathe/protocol";
import { createLazyMcp } from "./lazy-mcp.ts";

const program = fileURLToPath(new URL("../../../../adapters/mcp/src/fixtures/server.mjs", import.meta.url));
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

  it("does not run in the workspace if it is the user's own, so nothing there passes for its program", async () => {
    const place = await where(open({ command, args: [program] }));
    assert.ok(place.startsWith(join(root, "home", ".local/state/lathe") + sep), place);
    // npx looks a program up here.
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

  describe("and is the user's own, with its program in the workspace", () => {
    const spec = (): ServerSpec => ({ command, args: [join(cwd, "tools/mcp.mjs")] });
    beforeEach(() => {
      writeFileSync(join(cwd, "tools/mcp.mjs"), `import "./lib.mjs";\nimport ${JSON.stringify(program)};\n`);
      writeFileSync(join(cwd, "tools/lib.mjs"), "\n");
    });
    const failure = async (servers: McpServers): Promise<string> => {
      const outcome = await servers.call({ server: "one", tool: "where", input: {} }, never);
      return outcome.type === "failed" ? outcome.failure.text : JSON.stringify(outcome);
    };
    const changed = /one is not started: files of this project.*`lathe mcp trust`/;

    it("does not start after the session changed a file it loads, also not in the next session, until the person approves", async () => {
      await where(open(spec()));
      const session = open(spec());
      await session.list("other", never);
      writeFileSync(join(cwd, "tools/lib.mjs"), "console.error('changed');\n");
      assert.match(await failure(session), changed);
      assert.match(await failure(open(spec())), changed);
      const place = { cwd, env: { PATH: process.env.PATH, HOME: join(root, "home") } };
      const within = serversWithin({ one: spec() }, place);
      assert.deepEqual(
        within.map((one) => changedIn(one, place)),
        [["tools/lib.mjs"]],
      );
      assert.equal(knowServers(within, place), undefined);
      await where(open(spec()));
    });

    it("does not start if the session created a file that it names", async () => {
      const named = { command, args: [join(cwd, "tools/later.mjs")] };
      const session = open(named);
      await session.list("other", never);
      writeFileSync(join(cwd, "tools/later.mjs"), `import ${JSON.stringify(program)};\n`);
      assert.match(await failure(session), changed);
    });

    it("does not start if commands can write its trust record", async () => {
      assert.match(await failure(open(spec(), cwd)), changed);
    });

    it("starts if the files named to it are only data", async () => {
      writeFileSync(join(cwd, "data.json"), "{}");
      writeFileSync(join(cwd, "package.json"), "{}");
      const reads = { command: "npx", args: ["-y", "some-server", cwd, join(cwd, "data.json")] };
      const place = { cwd, env: {}, isProjects: false };
      assert.deepEqual(serverFiles(reads, place).files, []);
      const runs = { command: "npm", args: ["--prefix", cwd, "run", "mcp"] };
      assert.deepEqual(
        serverFiles(runs, place).files.map(({ path }) => path),
        ["package.json"],
      );
    });
  });

  describe("and belongs to a project", () => {
    const filesOf = (one: ServerSpec): ServerFiles => serverFiles(one, { cwd, env: {}, isProjects: true });
    const spec = { command, args: ["tools/mcp.mjs"], env: { NODE_OPTIONS: "--require=./tools/first.cjs" } };
    const trusted = (): ServerSpec => ({ ...spec, trusted: digestOf(filesOf(spec)) });
    const failure = async (servers: McpServers): Promise<string> => {
      const outcome = await servers.call({ server: "one", tool: "where", input: {} }, never);
      return outcome.type === "failed" ? outcome.failure.text : JSON.stringify(outcome);
    };
    beforeEach(() => {
      writeFileSync(join(cwd, "tools/mcp.mjs"), `import ${JSON.stringify(program)};\n`);
      writeFileSync(join(cwd, "tools/first.cjs"), "\n");
    });

    it("runs in the workspace", async () => {
      assert.equal(await where(open(trusted())), cwd);
    });

    it("does not start after a file it names has changed, also not at the second try in a session", async () => {
      const servers = open(trusted());
      await where(servers);
      await servers.call({ server: "one", tool: "crash", input: {} }, never);
      writeFileSync(join(cwd, "tools/mcp.mjs"), `import ${JSON.stringify(program)};\n// other\n`);
      assert.match(await failure(servers), /one is not started: files of this project.*`lathe mcp trust`/);
      assert.match(await failure(servers), /is not started/);
      await where(open(trusted()));
    });

    it("does not start after an import of its program has changed", async () => {
      writeFileSync(
        join(cwd, "tools/mcp.mjs"),
        `import "../src/lib.mjs";\nimport ${JSON.stringify(program)};\n`,
      );
      mkdirSync(join(cwd, "src"));
      writeFileSync(join(cwd, "src/lib.mjs"), "\n");
      const servers = open(trusted());
      writeFileSync(join(cwd, "src/lib.mjs"), "console.error('changed');\n");
      assert.match(await failure(servers), /one is not started: files of this project/);
    });

    it("is known by the files that its files name, too", () => {
      const put = (path: string, text: string): void => {
        mkdirSync(join(cwd, path, ".."), { recursive: true });
        writeFileSync(join(cwd, path), text);
      };
      put("pkg/__init__.py", "");
      put("pkg/server.py", "from pkg.sub import tool\nimport shared.names\n");
      put("pkg/sub/tool.py", "");
      put("shared/names.py", "");
      put("shared/unnamed.py", "");
      put("package.json", JSON.stringify({ scripts: { mcp: "node bin/go.mjs", other: "node src/no.mjs" } }));
      put("bin/go.mjs", `import "../src/lib";\nimport { z } from "zod/v4";\n`);
      put("src/lib.ts", "");
      put("src/no.mjs", "");
      put("node_modules/zod/package.json", JSON.stringify({ dependencies: { dep: "1" } }));
      put("node_modules/dep/deep/index.js", "");
      put("node_modules/left/index.js", "");
      const paths = (one: ServerSpec): readonly string[] => filesOf(one).files.map(({ path }) => path);
      assert.deepEqual(paths({ command: "python3", args: ["-m", "pkg.server"] }), [
        "pkg/__init__.py",
        "pkg/server.py",
        "pkg/sub/tool.py",
        "shared/names.py",
      ]);
      const run = { command: "npm", args: ["run", "mcp"] };
      assert.deepEqual(paths(run), [
        "bin/go.mjs",
        "node_modules/dep",
        "node_modules/zod",
        "package.json",
        "src/lib.ts",
      ]);
      const before = digestOf(filesOf(run));
      put("node_modules/dep/deep/index.js", "changed");
      assert.notEqual(digestOf(filesOf(run)), before);
      put(".venv/pyvenv.cfg", "");
      put(".venv/lib/python3/site-packages/mcp/server.py", "");
      symlinkSync(process.execPath, join(cwd, ".venv/python"));
      assert.ok(
        paths({ command: ".venv/python", args: ["-m", "mcp"] }).includes(
          ".venv/lib/python3/site-packages/mcp/server.py",
        ),
      );
    });

    it("is known by every file that it names or that runs for it", () => {
      const paths = (one: ServerSpec): readonly string[] => filesOf(one).files.map(({ path }) => path);
      assert.deepEqual(paths(spec), ["tools/first.cjs", "tools/mcp.mjs"]);
      mkdirSync(join(cwd, "node_modules/srv"), { recursive: true });
      writeFileSync(join(cwd, "node_modules/srv/package.json"), "{}");
      writeFileSync(join(cwd, "package.json"), "{}");
      writeFileSync(join(cwd, "mod.py"), "");
      writeFileSync(join(root, "outside.js"), "1");
      symlinkSync(join(root, "outside.js"), join(cwd, "link.js"));
      assert.deepEqual(paths({ command: "npx", args: ["-y", "srv"] }), ["node_modules/srv", "package.json"]);
      // All code in the workspace's top folder counts, but none in its subfolders.
      assert.deepEqual(paths({ command: "python3", args: ["-m", "mod"] }), [
        "link.js",
        "mod.py",
        "package.json",
      ]);
      assert.deepEqual(paths({ command: "sh", args: ["-c", "exec ruby ./link.js"] }), ["link.js"]);
      assert.deepEqual(paths({ command: "./mcp.mjs", cwd: "tools" }), [
        "package.json",
        "tools/first.cjs",
        "tools/mcp.mjs",
      ]);
      assert.deepEqual(
        paths({ command: "cat", args: [join(root, "outside.js"), "../outside.js", "nothing", ""] }),
        [],
      );
      const before = digestOf(filesOf({ command: "./link.js" }));
      writeFileSync(join(root, "outside.js"), "2");
      assert.notEqual(digestOf(filesOf({ command: "./link.js" })), before);
    });
  });
});
