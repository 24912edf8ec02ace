/**
 * Races for a trusted server's program: a command keeps replacing it, and the untrusted version never runs.
 */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { digestOf, serverFiles } from "@lathe/extensions/servers";
import { isFailure, type McpServers, type Sandbox } from "@lathe/protocol";
import { probeDriver } from "@lathe/sandbox";
import { createLazyMcp } from "./lazy-mcp.ts";

const program = fileURLToPath(new URL("../../../../adapters/mcp/src/fixtures/server.mjs", import.meta.url));
const command = process.execPath;
const never = new AbortController().signal;
const folder = realpathSync(mkdtempSync(join(tmpdir(), "lathe-mcp-race-")));
after(() => rmSync(folder, { recursive: true, force: true }));
const path = process.env.PATH ?? "";
const probe = await probeDriver({ preference: "launcher", cacheFolder: join(folder, "cache"), path });
const skip = probe.driver.name === "launcher" ? false : probe.reasons.join(" ");
/** The least number of raced starts; ten times as many with LATHE_RACES=10. */
const rounds = 6 * Number(process.env.LATHE_RACES ?? 1);

/** The replaced files; each good and bad text is a file in `zz`. */
const exchanged: readonly (readonly [what: string, file: string])[] = [
  ["its program", "server.mjs"],
  ["what its program imports", "lib/part.mjs"],
  ["a package that it loads", "node_modules/dep/index.js"],
];

describe("a trusted server of the project", { skip }, () => {
  for (const [what, file] of exchanged) {
    it(`runs only its trusted version while a command replaces ${what}`, async () => {
      const { cwd, sandbox, marker } = await place(file);
      const spec = { command, args: ["server.mjs"] };
      const env = { PATH: path, HOME: join(cwd, "..", "home") };
      const trusted = digestOf(serverFiles(spec, { cwd, env, isProjects: true }));
      const script = `cd zz; while :; do cp evil t; mv t ../${file}; sleep 0.05; cp good t; mv t ../${file}; sleep 0.05; done`;
      const other = await sandbox.spawn({ script, cwd });
      if (isFailure(other)) assert.fail(other.text);
      const open = (): McpServers =>
        createLazyMcp({ cwd, env, version: "1", mcpServers: { x: { ...spec, trusted } } });
      await race(marker, open).finally(() => sandbox.close());
    });
  }
});

/** Starts the server again and again, until some starts succeeded and some were refused. */
async function race(marker: string, open: () => McpServers): Promise<void> {
  const told = { honest: 0, refused: 0 };
  for (let round = 0; round < rounds || told.honest === 0 || told.refused === 0; round++) {
    const servers = open();
    const outcome = await servers.call({ server: "x", tool: "where", input: {} }, never);
    await servers.close();
    if (outcome.type === "ok") told.honest++;
    else if (outcome.type === "failed" && outcome.failure.code === "no-access") told.refused++;
    else assert.fail(JSON.stringify(outcome));
    assert.equal(existsSync(marker), false, `round ${round}: ${JSON.stringify(told)}`);
  }
}

let count = 0;

async function place(
  file: string,
): Promise<{ readonly cwd: string; readonly sandbox: Sandbox; readonly marker: string }> {
  const ground = join(folder, `g${++count}`);
  const [cwd, scratch] = [join(ground, "workspace"), join(ground, "scratch")];
  for (const one of [cwd, scratch, join(cwd, "zz"), join(cwd, "lib"), join(cwd, "node_modules/dep")])
    mkdirSync(one, { recursive: true });
  const texts: Readonly<Record<string, string>> = {
    "server.mjs": `import "./lib/part.mjs";\nimport "dep";\nimport ${JSON.stringify(program)};\n`,
    "lib/part.mjs": "export const part = 1;\n",
    "node_modules/dep/package.json": JSON.stringify({ name: "dep", main: "index.js" }),
    "node_modules/dep/index.js": "module.exports = 1;\n",
  };
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(cwd, name), text);
  const marker = join(ground, "evil-ran");
  const evil = `process.getBuiltinModule("node:fs").writeFileSync(${JSON.stringify(marker)}, "");\n`;
  writeFileSync(join(cwd, "zz/good"), texts[file] ?? "");
  writeFileSync(join(cwd, "zz/evil"), `${texts[file]}${evil}`);
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: `${scratch}/home` };
  const sandbox = await probe.driver.open({ workspace: cwd, scratch, network: "none", env });
  return { cwd, sandbox: isFailure(sandbox) ? assert.fail(sandbox.text) : sandbox, marker };
}
