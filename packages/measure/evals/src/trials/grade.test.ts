/** Only the tests' own result is a reward. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, it } from "node:test";
import { isFailure } from "@lathe/protocol";
import type { Task } from "../tasks/task.ts";
import { grade } from "./grade.ts";
import type { Workplace } from "./workplace.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "grade-"));
  for (const name of ["task/tests", "base", "agent", "grade"])
    mkdirSync(join(root, name), { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** The grade of tests that leave this in the verifier's folder. */
async function graded(leave: (verifier: string) => void, isMined = false) {
  const seconds = { agent: 1, verifier: 1, build: 1 };
  const task: Task = {
    name: "t",
    folder: join(root, "task"),
    digest: "d",
    instruction: "",
    seconds,
    verifierEnv: {},
    protectTests: true,
    isMined,
  };
  const folder = join(root, "grade");
  const run = async () => {
    leave(join(folder, "logs", "verifier"));
    return { code: 0, output: "said", timedOut: false };
  };
  const openShell = async () => ({ run, close: async () => undefined });
  const [clean, agent] = [folder, join(root, "agent")].map((own) => ({ root: own, own })) as [
    Workplace,
    Workplace,
  ];
  const place = { clean, openShell, path: "", base: join(root, "base"), agent };
  const outcome = await grade(task, { base: "node", workdir: "/app", env: {}, steps: [] }, place);
  assert.ok(!isFailure(outcome));
  return outcome.type === "graded" ? outcome.reward : outcome.why;
}

const put = (name: string, text: string) => (verifier: string) => writeFileSync(join(verifier, name), text);

it("reads the number from either file", async () => {
  assert.equal(await graded(put("reward.txt", "1\n")), 1);
});

it("uses the lowest of several", async () => {
  assert.equal(await graded(put("reward.json", '{"a": 1, "b": 0.5}')), 0.5);
});

it("gives no grade for both files, or for one that a mined task's tests never write", async () => {
  const both = (verifier: string): void => {
    put("reward.txt", "0")(verifier);
    put("reward.json", "1")(verifier);
  };
  assert.match(String(await graded(both)), /not theirs/);
});

it("gives a mined task no grade from another file", async () => {
  assert.match(String(await graded(put("reward.json", "1"), true)), /not theirs/);
});

for (const [what, leave] of [
  ["a link", (path: string) => symlinkSync(join(root, "one"), path)],
  ["a pipe", (path: string) => void execFileSync("sh", ["-c", `mkfifo '${path}'`])],
  ["a folder", (path: string) => mkdirSync(path)],
  ["too much", (path: string) => writeFileSync(path, `1${" ".repeat(100_000)}`)],
  ["no number", (path: string) => writeFileSync(path, "one")],
] as const) {
  it(`reads no reward from ${what}`, async () => {
    writeFileSync(join(root, "one"), "1");
    const why = await graded((verifier) => leave(join(verifier, "reward.txt")));
    assert.equal(why, "its tests gave no reward: said");
  });
}

it("reads nothing through something that replaced the folder", async () => {
  const why = await graded((verifier) => {
    renameSync(verifier, `${verifier}-x`);
    put("reward.txt", "1")(`${verifier}-x`);
    symlinkSync(`${verifier}-x`, verifier);
  });
  assert.match(String(why), /in the place of logs/);
});
