/** A task's variables reach the commands of its trial, and no process outside the sandbox. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { createFakeSandbox } from "@lathe/testkit";
import { runEvalAgent } from "../runs/eval-agent.ts";
import { isTrial, packedEnv, withTaskEnv } from "./task-env.ts";

const task = { NODE_OPTIONS: "--require=/evil.cjs", PATH: "/evil", XDG_CONFIG_HOME: "/evil", TEXT: "it's" };

it("gives an agent's process only the host's variables", async () => {
  const folder = mkdtempSync(join(tmpdir(), "task-env-"));
  try {
    const out = join(folder, "env.json");
    const write = `require("node:fs").writeFileSync(${JSON.stringify(out)}, JSON.stringify(process.env))`;
    const env = { PATH: "/usr/bin:/bin", OWN: "1" };
    const signal = new AbortController().signal;
    mkdirSync(join(folder, "state"));
    await runEvalAgent(
      { command: [process.execPath, "-e", write], env, signal, contestants: [] },
      {
        agent: "m",
        cwd: folder,
        state: join(folder, "state"),
        instruction: "",
        env: task,
        timeoutMs: 30_000,
      },
    );
    const { LATHE_EVAL_ENV, ...found } = JSON.parse(readFileSync(out, "utf8"));
    assert.deepEqual(found, { ...env, XDG_STATE_HOME: join(folder, "state") });
    assert.deepEqual(JSON.parse(LATHE_EVAL_ENV), task);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

it("sets them for each command, in the shell inside the sandbox", async () => {
  const inner = createFakeSandbox();
  const sandbox = withTaskEnv(inner, packedEnv({ ...task, "a; evil": "x" }));
  await sandbox.exec({ script: "true", cwd: "/" }, { timeoutMs: 1000 });
  const [command] = inner.commands;
  assert.match(command?.script ?? "", /^export NODE_OPTIONS=.*\nexport TEXT='it'\\''s'\ntrue$/s);
  assert.ok(!command?.script.includes("a; evil"));
  assert.equal(sandbox.spec, inner.spec);
});

it("changes nothing outside a trial", () => {
  const inner = createFakeSandbox();
  assert.equal(withTaskEnv(inner, {}), inner);
  assert.equal(withTaskEnv(inner, { LATHE_EVAL_ENV: "no" }), inner);
  assert.deepEqual([isTrial({}), isTrial(packedEnv({}))], [false, true]);
});
