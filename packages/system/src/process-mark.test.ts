import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { it } from "node:test";
import { isRunning, ownMark } from "./process-mark.ts";

it("of this process runs; with another start, or no process's number, nothing does", () => {
  const own = ownMark();
  assert.equal(isRunning(own), true);
  assert.equal(isRunning({ ...own, startedAt: 1 }), false);
  for (const pid of [0, -1, 1.5, Number.NaN, 2 ** 22 + 1]) assert.equal(isRunning({ ...own, pid }), false);
});

it("of a process that ended does not run, even where nobody has waited for it", {
  skip: process.platform === "linux" ? false : "only Linux tells",
}, async () => {
  // The shell does not wait for the one it started in the background, and becomes another program.
  const shell = spawn("sh", ["-c", "sh -c 'exit 0' & echo $!; exec sleep 60"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [said] = (await once(shell.stdout, "data")) as [Buffer];
  const { readFileSync } = await import("node:fs");
  const pid = Number(said.toString());
  const fields = (): readonly string[] =>
    readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  while (fields()[0] !== "Z") await new Promise(setImmediate);
  assert.equal(isRunning({ pid, startedAt: Number(fields()[19]) }), false);
  shell.kill();
});

/** A program in which no process can be looked up, as with `hidepid` those of other users cannot. */
function withoutProc(program: string): readonly [string, readonly string[]] {
  const script = 'mount -t tmpfs none /proc && exec "$@"';
  const node = [process.execPath, "--input-type=module", "-e", program];
  return ["unshare", ["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", ...node]];
}

it("of a process that is there but may not be looked at runs", {
  skip: spawnSync(...withoutProc("")).status === 0 ? false : "needs Linux, and namespaces for everyone",
}, () => {
  const gone = { pid: 2 ** 22 + 1, startedAt: 1 };
  const program = `
    const { isRunning } = await import(${JSON.stringify(import.meta.resolve("./process-mark.ts"))});
    console.log(JSON.stringify(${JSON.stringify([ownMark(), gone])}.map(isRunning)));`;
  const { stdout, stderr } = spawnSync(...withoutProc(program), { encoding: "utf8" });
  assert.equal(stdout, "[true,false]\n", stderr);
});
