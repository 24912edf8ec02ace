import assert from "node:assert/strict";
import { it } from "node:test";
import { type CommandResult, type Failure, failure, isFailure, type Sandbox } from "@lathe/protocol";
import { createLazySandbox } from "./lazy-sandbox.ts";

const early = { workspace: "/w", scratch: "/s", network: "none" } as const;
const result: CommandResult = { code: 0, timedOut: false, output: "", bytes: 0, ms: 1 };

function fakeSandbox(closed: () => void): Sandbox {
  return {
    find: async () => failure("not-found", "nothing"),
    spec: { ...early, env: { A: "1" } },
    spawn: async () => failure("sandbox-unavailable", "no"),
    exec: async () => result,
    processes: () => [],
    close: async () => closed(),
  };
}

it("opens once, for the first command, and closes what it opened", async () => {
  let [opened, closed] = [0, 0];
  const sandbox = createLazySandbox(early, async () => {
    opened++;
    return fakeSandbox(() => closed++);
  });
  assert.deepEqual([sandbox.spec.env, sandbox.processes(), opened], [{}, [], 0]);
  const command = { script: "true", cwd: "/w" };
  const options = { timeoutMs: 1000 };
  await Promise.all([sandbox.exec(command, options), sandbox.exec(command, options)]);
  assert.deepEqual([sandbox.spec.env, opened], [{ A: "1" }, 1]);
  await sandbox.close();
  assert.equal(closed, 1);
});

it("retries after a failed opening", async () => {
  const answers: (Sandbox | Failure)[] = [failure("sandbox-unavailable", "no"), fakeSandbox(() => {})];
  const sandbox = createLazySandbox(early, async () => answers.shift() ?? failure("bug", "opened too often"));
  const command = { script: "true", cwd: "/w" };
  assert.ok(isFailure(await sandbox.exec(command, { timeoutMs: 1 })));
  assert.equal(await sandbox.exec(command, { timeoutMs: 1 }), result);
});

it("opens nothing for a command that comes after closing", async () => {
  let opened = 0;
  const sandbox = createLazySandbox(early, async () => {
    opened++;
    return fakeSandbox(() => {});
  });
  await sandbox.close();
  const failed = await sandbox.exec({ script: "true", cwd: "/w" }, { timeoutMs: 1 });
  assert.ok(isFailure(failed) && failed.code === "cancelled", String(failed));
  assert.equal(opened, 0);
});

it("reports an opening that throws, and closes all the same", async () => {
  const sandbox = createLazySandbox(early, () => Promise.reject(new Error("no space left")));
  const failed = await sandbox.exec({ script: "true", cwd: "/w" }, { timeoutMs: 1 });
  assert.ok(isFailure(failed));
  assert.match(failed.text, /did not open: .*no space left/);
  await sandbox.close();
});
