/** The keep rate of sessions, from their events to the lines that are still in the files. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, it } from "node:test";
import { type KeepSources, measureKeep, openObservations, readKeep } from "@lathe/keep-rate";
import type { Draft } from "@lathe/protocol";
import { ingest, openDatabase, readChangedSessions, readChanges } from "@lathe/telemetry";
import { createdDraft, createMemoryStore, plainGit, succeeded, testOwner } from "@lathe/testkit";

const hour = 3_600_000;
const start = Date.UTC(2026, 0, 5, 12);
const path = process.env.PATH ?? "";

describe("the keep rate of sessions", () => {
  let root: string;
  let project: string;
  let facts: DatabaseSync;
  let observations: DatabaseSync;
  const texts = new Map<string, string>();

  const git = (at: number, ...args: readonly string[]): void => {
    const date = `${at / 1000} +0000`;
    const who = {
      GIT_AUTHOR_NAME: "a",
      GIT_AUTHOR_EMAIL: "a@x",
      GIT_COMMITTER_NAME: "a",
      GIT_COMMITTER_EMAIL: "a@x",
    };
    const env = {
      PATH: path,
      ...who,
      GIT_AUTHOR_DATE: date,
      GIT_COMMITTER_DATE: date,
      GIT_CONFIG_GLOBAL: "/dev/null",
    };
    execFileSync("git", args, { cwd: root, env, stdio: "ignore" });
  };
  const put = (text: string): void => writeFileSync(join(project, "a.py"), text);
  const edit = (before: string, after: string): readonly Draft[] => {
    texts.set(before, before).set(after, after);
    const facts = { changed: [{ path: "a.py", before, after }] };
    const usage = { input: 1000, cached: 800, written: 100, output: 50, reasoning: 0 };
    const call = { type: "tool-call", id: "a.0", tool: "edit", input: "{}" } as const;
    const answer = {
      attempt: "a",
      model: "test/one",
      parts: [call],
      usage,
      cost: 0.01,
      firstMs: 200,
      ms: 1500,
    };
    return [
      { type: "message.received", data: { parts: [{ type: "text", text: "x" }] } },
      { type: "step.started", data: { attempt: "a", model: "test/one" } },
      { type: "step.completed", data: { ...answer, reason: "tool-calls" } },
      { type: "tool.completed", data: { call: "a.0", outcome: { type: "ok", text: "", facts }, ms: 30 } },
      { type: "turn.ended", data: { end: { type: "done" } } },
    ];
  };
  const record = async (sessions: readonly { id: string; at: number; drafts: readonly Draft[] }[]) => {
    const store = createMemoryStore();
    for (const { id, at, drafts } of sessions) {
      const created = createdDraft(id, { cwd: project });
      const log = succeeded(await store.create(created, { owner: testOwner(1), at }));
      succeeded(await log.append(drafts, { at, durable: false }));
    }
    await ingest(facts, { store, now: Date.now });
  };
  const sources = (now: number, more: Partial<KeepSources> = {}): KeepSources => ({
    sessions: readChangedSessions(facts),
    changesOf: (session) => readChanges(facts, session),
    observations,
    now,
    git: plainGit(process.env),
    textOf: async (version) => texts.get(version),
    endsOf: async () => new Map(),
    languageOf: () => "python",
    ...more,
  });
  const total = () =>
    Object.fromEntries(
      readKeep(observations, { since: 0, folderName: (_, folder) => folder }).total.map((row) => [
        row.horizon,
        row,
      ]),
    );

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "lathe-keep-"));
    project = join(root, "app");
    mkdirSync(project);
    git(start - hour, "init", "-q", "-b", "main");
    put("one = 1\n");
    git(start - hour, "add", "-A");
    git(start - hour, "commit", "-qm", "begin");
    facts = succeeded(openDatabase(join(root, ".state", "facts.sqlite")));
    observations = succeeded(openObservations(join(root, ".state", "keep.sqlite")));
  });
  afterEach(() => {
    facts.close();
    observations.close();
    rmSync(root, { recursive: true });
  });

  const wrote = "one = 1\ntwo = load(2)\nthree = load(3)\nfour = load(4)\nfive = load(5)\n";

  it("distinguishes the user's changes, an agent's, and mere reformatting", async () => {
    const again = wrote.replace("three = load(3)", "three = other(3)");
    await record([
      { id: "one", at: start, drafts: edit("one = 1\n", wrote) },
      { id: "two", at: start + 2 * hour, drafts: edit(wrote, again) },
    ]);
    put(again);
    git(start + 3 * hour, "commit", "-qam", "work");
    put(again.replace("two = load(2)", "two = load(\n    2\n)").replace("five = load(5)", "five = mine(5)"));
    git(start + 50 * hour, "commit", "-qam", "formatted, and changed");
    const found = await measureKeep(sources(start + 24 * 40 * hour));
    assert.equal(found.changes, 8);
    const first = readKeep(observations, { since: 0, folderName: (_, folder) => folder }).by.model;
    assert.equal(first.length, 4);
    const rows = observations.prepare("select * from observations where session = 'one'").all();
    const at = Object.fromEntries(rows.map((row) => [row.horizon, row]));
    assert.partialDeepStrictEqual(at.hour, { lines: 4, kept: 4, byUser: 0, byAgent: 0 });
    assert.partialDeepStrictEqual(at.day, { lines: 4, kept: 3, byAgent: 1, laidOut: 0 });
    assert.partialDeepStrictEqual(at.week, { lines: 4, kept: 2, byAgent: 1, byUser: 1, laidOut: 1 });
  });

  it("observes each horizon once, when it is due", async () => {
    await record([{ id: "one", at: start, drafts: edit("one = 1\n", wrote) }]);
    put(wrote);
    assert.equal((await measureKeep(sources(start + hour / 2))).changes, 0);
    assert.equal((await measureKeep(sources(start + 2 * hour))).changes, 1);
    put("one = 1\n");
    assert.equal((await measureKeep(sources(start + 30 * hour))).changes, 1);
    assert.equal((await measureKeep(sources(start + 31 * hour))).changes, 0);
    assert.deepEqual([total().hour?.kept, total().day?.kept], [1, 0]);
  });

  it("counts only lines that existed when the session ended", async () => {
    await record([{ id: "one", at: start, drafts: edit("one = 1\n", wrote) }]);
    put("one = 1\ntwo = load(2)\n");
    const endsOf = async () => new Map([["a.py", "one = 1\ntwo = load(2)\n"]]);
    await measureKeep(sources(start + 2 * hour, { endsOf }));
    assert.partialDeepStrictEqual(total().hour, { lines: 1, kept: 1 });
  });

  it("searches the branch where the work was done, if it was never merged here", async () => {
    git(start - hour / 2, "checkout", "-qb", "topic");
    await record([{ id: "one", at: start, drafts: edit("one = 1\n", wrote) }]);
    put(wrote);
    git(start + hour / 2, "commit", "-qam", "work");
    git(start + hour, "checkout", "-q", "main");
    await measureKeep(sources(start + 2 * hour));
    assert.partialDeepStrictEqual(total().hour, { lines: 4, kept: 1 });
  });

  it("works without git, and reports that a project is gone", async () => {
    rmSync(join(root, ".git"), { recursive: true });
    await record([{ id: "one", at: start, drafts: edit("one = 1\n", wrote) }]);
    put(wrote.replace("load(4)", "mine(4)"));
    await measureKeep(sources(start + 2 * hour));
    assert.equal(total().hour?.kept, 0.75);
    rmSync(project, { recursive: true });
    assert.deepEqual(await measureKeep(sources(start + 30 * hour)), { changes: 0, gone: 1 });
  });
});
