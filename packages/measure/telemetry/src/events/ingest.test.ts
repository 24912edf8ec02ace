import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, it } from "node:test";
import { type Draft, failureClass, failureCodes, type Store } from "@lathe/protocol";
import { createdDraft, createMemoryStore, succeeded, testOwner } from "@lathe/testkit";
import { fc } from "@lathe/testkit/properties";
import { answerDrafts, done, failedOutcome, said } from "../sample-drafts.ts";
import { openDatabase } from "./database.ts";
import { ingest } from "./ingest.ts";

let folder: string;
let store: Store;
let database: DatabaseSync;
let now: number;

const file = (): string => join(folder, "telemetry", "facts.sqlite");
const clock = { now: () => now };
const pass = () => ingest(database, { store, now: clock.now });

async function write(id: string, drafts: readonly Draft[]) {
  const log = succeeded(await store.create(createdDraft(id), { owner: testOwner(1), at: now }));
  const add = async (more: readonly Draft[]): Promise<void> => {
    for (const draft of more) succeeded(await log.append([draft], { at: ++now, durable: false }));
  };
  await add(drafts);
  return add;
}

function dump(from: DatabaseSync): unknown {
  const tables = ["steps", "calls", "turns", "changes", "compactions"];
  return tables.map((table) => from.prepare(`select * from ${table}`).all());
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lathe-telemetry-"));
  store = createMemoryStore();
  database = succeeded(openDatabase(file()));
  now = 1_000_000;
});
afterEach(() => {
  database.close();
  rmSync(folder, { recursive: true });
});

const testRun = (exitCode: number) => ({
  tool: "shell",
  input: { command: "cd app && npm test" },
  outcome: { type: "ok", text: "", facts: { exitCode } } as const,
});
const edit = {
  tool: "edit",
  input: { path: "a.ts", edits: [] },
  outcome: { type: "ok", text: "", facts: { changed: [{ path: "a.ts", after: "v1" }] } } as const,
};

describe("ingest", () => {
  it("writes rows for steps, calls, turns and changes", async () => {
    await write("one", [
      said("do it"),
      ...answerDrafts("a", [testRun(0)]),
      ...answerDrafts("b", [edit, { tool: "grep", outcome: failedOutcome("search-failed"), asked: true }]),
      ...answerDrafts("c", [testRun(1), testRun(0)]),
      done,
    ]);
    assert.deepEqual(await pass(), { sessions: 1, events: 17, unread: 0 });
    const turn = database.prepare("select * from turns").get();
    assert.partialDeepStrictEqual(turn, { steps: 3, calls: 5, failedCalls: 1, asked: 1, end: "done" });
    // The first run passed before anything had changed.
    assert.equal(turn?.testMs, 13);
    const failed = database.prepare("select * from calls where code is not null").all();
    assert.equal(failed.length, 1);
    assert.partialDeepStrictEqual(failed[0], { tool: "grep", class: "InvalidArguments", asked: 1 });
    assert.partialDeepStrictEqual(database.prepare("select * from steps").get(), { fresh: 100, cached: 800 });
    assert.equal(database.prepare("select path from changes").get()?.path, "a.ts");
  });

  it("gives every failure code its class, per tool and model", async () => {
    const calls = failureCodes.map((code) => ({ tool: code, outcome: failedOutcome(code) }));
    await write("one", [said("x"), ...answerDrafts("a", calls), done]);
    await pass();
    const rows = database.prepare("select tool, code, class from calls").all();
    const classes = "InvalidArguments UnexpectedEnvironment ProviderError UserAborted Timeout Unknown".split(
      " ",
    );
    for (const code of failureCodes) {
      const row = rows.find(({ tool }) => tool === code);
      assert.equal(row?.code, code);
      assert.equal(row?.class, failureClass(code));
      assert.ok(classes.includes(String(row?.class)));
    }
    const unknown = rows.filter((row) => row.class === "Unknown").map(({ code }) => code);
    assert.deepEqual(unknown, ["bug"]);
  });

  it("reads only changed logs, and adds only their new events", async () => {
    await write("old", [said("x"), done]);
    const add = await write("new", [said("x")]);
    await pass();
    now += 10_000;
    assert.deepEqual(await pass(), { sessions: 2, events: 0, unread: 0 });
    assert.deepEqual(await pass(), { sessions: 0, events: 0, unread: 0 });
    await add(answerDrafts("a", [edit]));
    assert.deepEqual(await pass(), { sessions: 1, events: 3, unread: 0 });
  });

  it("gives the same rows wherever the log is split, as when it is rebuilt", async () => {
    const lines: readonly Draft[] = [
      said("x"),
      ...answerDrafts("a", [testRun(1), edit, { tool: "grep", asked: true }]),
      said("and"),
      ...answerDrafts("b", [testRun(0), { tool: "read", outcome: failedOutcome("not-found") }]),
      { type: "turn.ended", data: { end: { type: "cancelled", by: "me" } } },
      said("again"),
      ...answerDrafts("c", []),
      done,
    ];
    let round = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(lines.length), { maxLength: 4 }), async (cuts) => {
        store = createMemoryStore();
        now = 1_000_000;
        const add = await write("one", []);
        const cut = succeeded(openDatabase(join(folder, `cut-${++round}.sqlite`)));
        let at = 0;
        for (const end of [...cuts.sort((a, b) => a - b), lines.length]) {
          await add(lines.slice(at, end));
          at = end;
          await ingest(cut, { store, now: clock.now });
        }
        const whole = succeeded(openDatabase(join(folder, `whole-${round}.sqlite`)));
        await ingest(whole, { store, now: clock.now });
        assert.deepEqual(dump(cut), dump(whole));
        cut.close();
        whole.close();
      }),
      { numRuns: 25 },
    );
  });

  it("counts copied events only for a fork's source session", async () => {
    const turn = [said("x"), ...answerDrafts("a", [edit])];
    await write("one", [...turn, done]);
    const forkOf = { session: "one", seq: 7 };
    const created = createdDraft("two");
    const born: Draft = { ...created, data: { ...created.data, forkOf } };
    const copy = succeeded(await store.create(born, { owner: testOwner(1), at: now }));
    // Like a fork in the middle of a turn: open parts are closed.
    succeeded(await copy.append([...turn, done], { at: ++now, durable: false }));
    await copy.close();
    await pass();
    const own =
      "select session from steps union all select session from calls union all select session from turns";
    assert.deepEqual(
      new Set(
        database
          .prepare(own)
          .all()
          .map(({ session }) => session),
      ),
      new Set(["one"]),
    );
    const claimed = succeeded(await store.claim("two", { owner: testOwner(2), at: ++now, force: true }));
    succeeded(
      await claimed.append([said("and"), ...answerDrafts("b", []), done], { at: ++now, durable: false }),
    );
    await pass();
    assert.partialDeepStrictEqual(database.prepare("select * from turns where session = 'two'").all(), [
      { turn: 2, steps: 1, calls: 0 },
    ]);
    assert.equal(database.prepare("select count(*) n from steps where session = 'two'").get()?.n, 1);
  });

  it("deletes rows of deleted sessions", async () => {
    await write("one", [said("x"), ...answerDrafts("a", [edit]), done]);
    await pass();
    store = createMemoryStore();
    await pass();
    assert.deepEqual(dump(database), [[], [], [], [], []]);
  });

  it("rebuilds a broken or an older file", async () => {
    await write("one", [said("x"), done]);
    await pass();
    const whole = dump(database);
    database.close();
    writeFileSync(file(), "no database at all, but long enough to be taken for a page of one".repeat(40));
    database = succeeded(openDatabase(file()));
    await pass();
    assert.deepEqual(dump(database), whole);
    database.exec("pragma user_version = 99");
    database.close();
    database = succeeded(openDatabase(file()));
    assert.equal(database.prepare("select count(*) n from turns").get()?.n, 0);
  });

  it("stores no text of messages, files or answers", async () => {
    const secret = ["planted", "secret", "7f3a"].join("-");
    await write("one", [
      said(secret),
      ...answerDrafts("a", [
        { tool: "shell", input: { command: secret, [secret]: 1 }, outcome: failedOutcome("bug", secret) },
        { tool: "edit", input: [secret], outcome: { type: "ok", text: secret } },
      ]),
      done,
    ]);
    await pass();
    assert.ok(!JSON.stringify(dump(database)).includes(secret));
  });
});
