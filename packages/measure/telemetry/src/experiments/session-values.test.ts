/**
 * Values of an experiment's session: turns that never ended in their original arm, trouble, and lost lines.
 */
import assert from "node:assert/strict";
import type { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, it } from "node:test";
import { openInMemory } from "../events/database.ts";
import { emptyState } from "../events/session-facts.ts";
import { type ExposedQuery, readExposed } from "./session-values.ts";

const hour = 3_600_000;
const day = 24 * hour;

let facts: DatabaseSync;
beforeEach(() => {
  facts = openInMemory();
});
afterEach(() => facts.close());

/** Exposed at 0. `openSince` is the start of a turn that never ended. */
const session = (id: string, openSince?: number): void => {
  const turn = openSince === undefined ? null : { startedAt: openSince };
  facts
    .prepare("insert into sessions (id, state) values (?, ?)")
    .run(id, JSON.stringify({ ...emptyState(), turn }));
  facts.prepare("insert into exposures values (?, 1, 0, 'x', 'a', '{\"a\":1}', 'd')").run(id);
};
const turn = (
  id: string,
  seq: number,
  { began = 0, at, end = "done" }: { began?: number; at: number; end?: string },
) =>
  facts
    .prepare(
      'insert into turns (session, seq, at, turn, ms, waitedMs, asked, "end") values (?, ?, ?, ?, ?, 0, 0, ?)',
    )
    .run(id, seq, at, seq, at - began, end);
const reaction = (seq: number, name: string, saidAt: number) =>
  facts.prepare("insert into reactions values (?, ?, 0, ?, 'm', ?, ?)").run("s", seq, seq, name, saidAt);
const valuesAt = (now: number, more: Partial<ExposedQuery> = {}) =>
  readExposed(facts, { experiment: "x", now, ...more })[0]?.values;

it("counts a turn that never ended as not done, once its window is over", () => {
  session("s", 2 * hour);
  turn("s", 1, { at: hour });
  assert.equal(valuesAt(day - 1), undefined);
  const values = valuesAt(day);
  assert.deepEqual([values?.done, values?.["not-ended"]], [0.5, 0.5]);
});

it("gives the same value at every later look, also for a turn that ends a week later", () => {
  session("s", 2 * hour);
  turn("s", 1, { at: hour });
  const first = valuesAt(day);
  facts.prepare("update sessions set state = ?").run(JSON.stringify(emptyState()));
  turn("s", 2, { began: 2 * hour, at: 7 * day });
  reaction(1, "corrected", 6 * day);
  assert.deepEqual(valuesAt(8 * day), first);
});

it("omits a turn that began shortly before the window closed, and later ones", () => {
  for (const since of [day - hour + 1, 3 * day]) {
    session(`s${since}`, since);
    turn(`s${since}`, 1, { at: hour });
  }
  for (const { values } of readExposed(facts, { experiment: "x", now: 9 * day }))
    assert.deepEqual([values?.done, values?.["not-ended"]], [1, 0]);
});

it("counts a session whose only turn was killed", () => {
  session("s", 1);
  const values = valuesAt(day);
  assert.deepEqual([values?.done, values?.["not-ended"], values?.trouble], [0, 1, 0]);
});

it("counts users' messages within the window for trouble, from all its turns", () => {
  session("s");
  for (const seq of [1, 2, 3, 4]) turn("s", seq, { at: seq });
  reaction(1, "corrected", hour);
  reaction(2, "satisfied", hour);
  reaction(3, "failure-reported", 2 * day);
  assert.equal(valuesAt(3 * day)?.trouble, 0.25);
});

it("waits for the observation of lines if it is requested, also for subagents", () => {
  session("s");
  facts.prepare("insert into sessions (id, root, agent) values ('child', 's', 'explore')").run();
  for (const id of ["s", "child"])
    facts.prepare("insert into changes (session, seq, part, at) values (?, 1, 0, 5)").run(id);
  const known = new Map([["s", { lines: 30, kept: 15 }]]);
  const linesOf = (id: string) => known.get(id);
  assert.equal(valuesAt(day, { linesOf }), undefined);
  assert.equal(valuesAt(day)?.["lost-lines"], 0, "not asked for");
  known.set("child", { lines: 10, kept: 10 });
  assert.equal(valuesAt(day, { linesOf })?.["lost-lines"], 0.375);
});
