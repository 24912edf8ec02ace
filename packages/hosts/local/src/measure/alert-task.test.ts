/** The task an agent gets for an alert, and sending alerts to a tracker, from logs of this machine. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, it } from "node:test";
import { type Draft, failure, isFailure } from "@lathe/protocol";
import { createJsonlStore, processOwner } from "@lathe/stores";
import { createdDraft, succeeded } from "@lathe/testkit";
import { alertTask, readReport } from "./reports.ts";
import { sendTickets } from "./send-tickets.ts";

const key = ["ghp", "aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA3bC5"].join("_");
let root: string;
let env: Readonly<Record<string, string>>;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "lathe-alert-"));
  env = { HOME: root, XDG_STATE_HOME: join(root, "state"), XDG_CACHE_HOME: join(root, "cache") };
});
afterEach(() => rmSync(root, { recursive: true }));

/** Three calls that failed through a fault in Lathe. */
async function writeBugs(): Promise<void> {
  const store = createJsonlStore({ folder: join(root, "state", "lathe") });
  const log = succeeded(await store.create(createdDraft("s1"), { owner: processOwner(), at: 5 }));
  const usage = { input: 1, cached: 0, written: 0, output: 1, reasoning: 0 };
  const drafts = [1, 2, 3].flatMap((n): Draft[] => {
    const part = {
      type: "tool-call" as const,
      id: `c${n}`,
      tool: "edit",
      input: `{"path":"a${n}.ts","key":"${key}"}`,
    };
    const step = { attempt: `a${n}`, model: "test/one", usage, firstMs: 1, ms: 2 };
    const outcome = { type: "failed" as const, failure: failure("bug", `it broke at ${n}`) };
    return [
      { type: "step.completed", data: { ...step, reason: "tool-calls", parts: [part] } },
      { type: "tool.completed", data: { call: `c${n}`, outcome, ms: 3 } },
    ];
  });
  const said: Draft = { type: "message.received", data: { parts: [{ type: "text", text: "go" }] } };
  succeeded(await log.append([said, ...drafts], { at: 6, durable: false }));
  await log.close();
}

it("the task of an alert includes examples of the failures, without keys", async () => {
  await writeBugs();
  const { alerts } = await readReport(env, { since: 0, until: Date.now(), withNames: false });
  const [alert] = alerts;
  assert.ok(alert && alerts.length === 1);
  const task = await alertTask({ env, providers: {} }, alert.key.slice(0, 6));
  assert.ok(!isFailure(task));
  assert.match(
    task,
    /tool `edit`, called by `test\/one`, fails through a fault of its own; mostly the failure is `bug`/,
  );
  assert.match(task, /event 5\n {2}arguments: "\{\\"path\\":\\"a1\.ts/);
  assert.match(task, /failure: bug "it broke at 3"/);
  assert.ok(!task.includes(key));
  for (const wrong of ["", "zzz"]) {
    const refused = await alertTask({ env, providers: {} }, wrong);
    assert.ok(isFailure(refused) && refused.text.includes(alert.key));
  }
});

it("without an alert there is no task; a missing token is reported before anything is sent", async () => {
  const none = await alertTask({ env, providers: {} }, "abc");
  assert.ok(isFailure(none) && /there is no alert/.test(none.text));
  assert.equal(await sendTickets(env, { kind: "github", repository: "a/b" }, "1"), 0);
  await writeBugs();
  const refused = await sendTickets(env, { kind: "linear", team: "t" }, "1");
  assert.ok(isFailure(refused) && /LINEAR_API_KEY/.test(refused.text));
  const tokenCommand = ["node", "-e", "process.exit(3)"];
  const failed = await sendTickets(
    { ...env, PATH: process.env.PATH ?? "" },
    { kind: "github", repository: "a/b", tokenCommand },
    "1",
  );
  assert.ok(isFailure(failed) && /token command/.test(failed.text));
});
