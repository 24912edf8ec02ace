/**
 * Tests trust in a project's servers: it covers the files as shown, and is stored where the project's
 * commands cannot write.
 */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, it } from "node:test";
import { isFailure } from "@lathe/protocol";
import { type ProjectServers, readProjectServers, trustProjectServers } from "./project-servers.ts";

let root: string;
let cwd: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "lathe-trust-")));
  cwd = join(root, "workspace");
  mkdirSync(join(cwd, "tools"), { recursive: true });
  writeFileSync(join(cwd, "tools/mcp.js"), "1");
  const one = { command: "node", args: ["$" + "{DIR:-tools}/mcp.js"] };
  writeFileSync(join(cwd, ".mcp.json"), JSON.stringify({ mcpServers: { one } }));
});
afterEach(() => rmSync(root, { recursive: true }));

function found(env: Readonly<Record<string, string>>): ProjectServers {
  const servers = readProjectServers(cwd, env);
  assert.ok(servers && !isFailure(servers), JSON.stringify(servers));
  return servers;
}

it("ends when a script that a server starts changes", () => {
  const env = { XDG_CONFIG_HOME: join(root, "config") };
  const shown = found(env);
  assert.deepEqual([shown.isTrusted, shown.files], [false, ["tools/mcp.js"]]);
  assert.equal(trustProjectServers({ cwd, env }, shown), undefined);
  assert.equal(found(env).isTrusted, true);
  writeFileSync(join(cwd, "tools/mcp.js"), "2");
  assert.equal(found(env).isTrusted, false);
  writeFileSync(join(cwd, "tools/mcp.js"), "1");
  assert.equal(found(env).isTrusted, true);
  assert.equal(found({ ...env, DIR: "elsewhere" }).isTrusted, false);
});

it("is neither stored in nor read from the workspace, whatever link leads there", () => {
  const env = { XDG_CONFIG_HOME: join(root, "config") };
  const shown = found(env);
  mkdirSync(join(cwd, "dotfiles/lathe"), { recursive: true });
  symlinkSync(join(cwd, "dotfiles"), join(root, "config"));
  writeFileSync(join(cwd, "dotfiles/lathe/trusted-mcp.json"), JSON.stringify({ [cwd]: shown.hash }));
  assert.equal(found(env).isTrusted, false);
  assert.equal(trustProjectServers({ cwd, env }, shown)?.code, "no-access");
});
