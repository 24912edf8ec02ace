/**
 * The corpus itself: the same for the same seed, and its unspoiled cases solvable by the strictest engine.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { caseMakers, editCases, fewMakers } from "./corpus.ts";
import type { EditAnswer, EditCase, EditRequest, FilePair } from "./edit-case.ts";
import { formatReport, judgeCases, verdictOf } from "./judge.ts";
import { diffLines } from "./line-diff.ts";
import { strictEngine } from "./strict-engine.ts";

const old = `import json
import os


class Reader:
    def load(self, path):
        if not os.path.exists(path):
            raise ValueError("no such file: " + path)

        with open(path) as file:
            return json.load(file)

    def save(self, path, data):
        text = json.dumps(data, indent=2)
        with open(path, "w") as file:
            file.write(text)

    def names(self, data):
        # sorted by name, not by id
        found = sorted(data.keys())
        return [name for name in found if name]


def main(path):
    reader = Reader()
    print(reader.names(reader.load(path)))
`;

const current = old
  .replace("raise ValueError", "raise FileNotFoundError")
  .replace("indent=2)", "indent=4, sort_keys=True)\n        text += chr(10)")
  .replace("    reader = Reader()\n", "    reader = Reader()\n    assert path\n");

const scripts = old.replaceAll("    ", "\t").replaceAll('"', "'");
const pairs: readonly FilePair[] = [
  { path: "reader.py", before: old, after: current, source: "test" },
  {
    path: "tabbed.py",
    before: scripts,
    after: scripts.replace("json.dumps(data, indent=2)", "json.dumps(data)"),
    source: "test",
  },
];

const cases = editCases(pairs, { seed: 1, each: 4 });

const isClean = ({ corruption, expect }: EditCase): boolean =>
  corruption.startsWith("clean") && "content" in expect;

describe("the edit corpus", () => {
  it("has clean cases that exact replacement solves, and none that it must not refuse", async () => {
    const judged = await judgeCases(cases, strictEngine);
    const clean = judged.filter((one) => isClean(one.case));
    const refusals = judged.filter((one) => "refuse" in one.case.expect);
    assert.ok(clean.length > 60);
    assert.ok(refusals.length > 200);
    const wrong = [...clean, ...refusals].filter(({ verdict }) => verdict !== "right");
    assert.deepEqual(
      wrong.map(({ case: { request }, verdict }) => ({
        verdict,
        id: request.id,
        edits: request.edits ?? request.patch,
      })),
      [],
    );
  });

  it("is the same for the same seed, and differs for another", () => {
    assert.deepEqual(editCases(pairs, { seed: 1, each: 4 }), cases);
    assert.notDeepEqual(editCases(pairs, { seed: 2, each: 4 }), cases);
  });

  it("gives each maker a unique name and each case a unique id", () => {
    const names = [...caseMakers, ...fewMakers].map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
    assert.equal(new Set(cases.map(({ request }) => request.id)).size, cases.length);
  });

  it("never expects an unchanged file", () => {
    const idle = cases.filter(
      ({ expect, request }) => "content" in expect && expect.content === request.content,
    );
    assert.deepEqual(
      idle.map(({ request }) => request.id),
      [],
    );
  });

  it("finds the differing lines", () => {
    const changes = diffLines(["a", "b", "c", "d"], ["a", "x", "c", "d", "e"]);
    assert.deepEqual(changes, [
      { oldStart: 1, oldEnd: 2, newStart: 1, newEnd: 2 },
      { oldStart: 4, oldEnd: 4, newStart: 4, newEnd: 5 },
    ]);
  });
});

describe("the judge", () => {
  const request: EditRequest = {
    id: "1",
    path: "a.txt",
    content: "a\nb\nc\n",
    format: "search_replace",
    edits: [],
  };
  const wanted: EditCase = {
    request,
    expect: { content: "a\nB\nc\n" },
    corruption: "x",
    source: "t",
    language: "text",
  };
  const answer = (content: string): EditAnswer => ({ id: "1", ok: true, content });
  const refusal: EditAnswer = { id: "1", ok: false, code: "NOT_FOUND", error: "" };

  it("distinguishes wrong places, damage and refusals", () => {
    assert.equal(verdictOf(wanted, answer("a\nB\nc\n")), "right");
    assert.equal(verdictOf(wanted, answer("a\n  B\nc\n")), "damage");
    assert.equal(verdictOf(wanted, answer("a\nB\nc\n\n")), "damage");
    assert.equal(verdictOf(wanted, answer("B\nb\nc\n")), "wrong-apply");
    assert.equal(verdictOf(wanted, refusal), "refused");
  });

  it("accepts a refusal where it is required, and where both answers are right", () => {
    const refuse: EditCase = { ...wanted, expect: { refuse: true } };
    assert.equal(verdictOf(refuse, refusal), "right");
    assert.equal(verdictOf(refuse, answer("a\n")), "applied-not-refused");
    assert.equal(verdictOf({ ...wanted, expect: { content: "x", orRefuse: true } }, refusal), "right");
  });

  it("prints a table with aligned columns", async () => {
    const report = formatReport(await judgeCases(cases, strictEngine)).split("\n");
    assert.match(report[0] ?? "", /^corruption format +cases +right/);
    assert.match(report.at(-1) ?? "", /^all /);
    assert.equal(new Set(report.map((line) => line.length)).size, 1);
  });
});
