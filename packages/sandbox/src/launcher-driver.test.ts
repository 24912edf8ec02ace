/** Runs the conformance suite in boxes of the launcher, and what is their own: containment, death, terminals. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { isFailure, type Sandbox, type SandboxSpec } from "@lathe/protocol";
import { sandboxConformance } from "@lathe/testkit";
import { createLauncherDriver, createSocketDriver, type LauncherOptions } from "./launcher-driver.ts";
import { nativeBinary } from "./native-binary.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "lathe-launcher-")));
const cacheFolder = join(folder, "cache");
const found = await nativeBinary({ cacheFolder, path: process.env.PATH ?? "" });
const binary = "binary" in found ? found.binary : "";
const skip = "why" in found && `no launcher: ${found.why}`;
const servers: ChildProcess[] = [];
after(() => {
  for (const server of servers) server.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

async function listen(): Promise<string> {
  const socket = join(folder, `door-${servers.length}`);
  const server = spawn(binary, ["listen", socket], { stdio: ["ignore", "pipe", "ignore"], env: {} });
  servers.push(server);
  await once(server.stdout as NodeJS.ReadableStream, "data");
  return socket;
}

sandboxConformance("launcher", () => createLauncherDriver({ binary, cacheFolder }), {
  skip,
  hasTerminals: true,
});
const socket = skip ? "" : await listen();
sandboxConformance("launcher over a socket", () => createSocketDriver({ socket, cacheFolder }), {
  skip,
  hasTerminals: true,
});

describe("a box", { skip }, () => {
  let opened = 0;
  const open = async (more: Partial<LauncherOptions> = {}): Promise<Sandbox> => {
    const [workspace, scratch] = ["workspace", "scratch"].map((name) => join(folder, `${name}-${++opened}`));
    for (const made of [workspace, scratch]) mkdirSync(made as string);
    const env = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: `${scratch}/home` };
    const spec = { workspace, scratch, network: "none", env } as SandboxSpec;
    const sandbox = await createLauncherDriver({ binary, cacheFolder, ...more }).open(spec);
    assert.ok(!isFailure(sandbox));
    return sandbox;
  };
  const run = async (sandbox: Sandbox, script: string): Promise<string> => {
    const result = await sandbox.exec({ script, cwd: sandbox.spec.workspace }, { timeoutMs: 10_000 });
    assert.ok(!isFailure(result), isFailure(result) ? `${result.text} ${result.cause}` : "");
    return result.output;
  };

  it("whose agent dies ends its commands as the sandbox's failure, and the next command gets a new one", async () => {
    const sandbox = await open();
    const cwd = sandbox.spec.workspace;
    const spawned = await sandbox.spawn({ script: "echo up; sleep 300", cwd });
    assert.ok(!isFailure(spawned));
    const running = sandbox.exec({ script: "sleep 300", cwd }, { timeoutMs: 20_000 });
    process.kill(agentOf(binary), "SIGKILL");
    const ended = await running;
    assert.ok(isFailure(ended) && ended.code === "sandbox-unavailable");
    assert.match(ended.text, /ended while the command ran/);
    assert.equal((await spawned.exited).failure?.code, "sandbox-unavailable");
    assert.equal(await run(sandbox, "echo again"), "again\n");
    await sandbox.close();
  });

  it("that cannot be made is the sandbox's failure", async () => {
    for (const wrong of ["/bin/false", "/nowhere/lathe-box"]) {
      const driver = createLauncherDriver({ binary: wrong });
      const [workspace, scratch] = [folder, join(folder, "scratch-wrong")];
      const sandbox = await driver.open({ workspace, scratch, network: "none", env: {} });
      assert.ok(!isFailure(sandbox));
      const command = { script: "true", cwd: workspace };
      for (const result of [await sandbox.exec(command, { timeoutMs: 5000 }), await sandbox.spawn(command)]) {
        assert.ok(isFailure(result) && result.code === "sandbox-unavailable");
      }
      await sandbox.close();
    }
  });

  it("holds memory, processes and the size of files, and says what memory ended", async () => {
    const limits = { memoryBytes: 200 * 2 ** 20, processes: 200, fileBytes: 2 ** 20 };
    const sandbox = await open({ limits });
    const cwd = sandbox.spec.workspace;
    const hog = "head -c 400000000 /dev/zero | tail -c 399999999 >/dev/null; echo after $?";
    const held = await sandbox.exec({ script: hog, cwd }, { timeoutMs: 10_000 });
    assert.ok(!isFailure(held));
    // Where there are no control groups the program itself is told that there is no more.
    assert.match(held.output, /after (137|1)\n$/);
    assert.equal(held.outOfMemory ?? false, held.output.includes("137"));
    assert.match(await run(sandbox, "bomb() { bomb | bomb & }; bomb 2>/dev/null; echo survived"), /survived/);
    assert.match(await run(sandbox, "head -c 2000000 /dev/zero > big; stat -c %s big"), /^1048576$/m);
    assert.equal(await run(sandbox, "echo fine"), "fine\n");
    await sandbox.close();
  });

  it("lets no command see or reach its agent", async () => {
    const sandbox = await open();
    const seen = await run(sandbox, "for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline; echo; done");
    assert.doesNotMatch(seen.replace(/^[^\n]*\n/, ""), /lathe-box/);
    const tried = await run(
      sandbox,
      "kill -9 1; kill -STOP 1; ls /proc/1/fd; cat /proc/1/environ; echo alive",
    );
    assert.match(tried, /alive\n$/);
    assert.match(tried, /Permission denied/);
    await sandbox.close();
  });
});

/** The youngest process of that program that this process started. */
function agentOf(program: string): number {
  const pids = readdirSync("/proc").filter((pid) => /^\d+$/.test(pid));
  const agents = pids.map(Number).filter((pid) => {
    const line = readProc(pid, "cmdline");
    return (
      line.startsWith(program) && readProc(pid, "stat").split(") ")[1]?.split(" ")[1] === String(process.pid)
    );
  });
  // Numbers of processes begin anew after the highest one.
  const started = (pid: number): number => Number(readProc(pid, "stat").split(") ")[1]?.split(" ")[19]);
  return agents.sort((a, b) => started(b) - started(a) || b - a)[0] ?? assert.fail("there is no agent");
}

function readProc(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "latin1");
  } catch {
    return "";
  }
}
