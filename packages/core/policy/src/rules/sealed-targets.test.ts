/** Tests which refusals a sandbox must enforce. */
import assert from "node:assert/strict";
import { it } from "node:test";
import type { Refusal } from "@lathe/protocol";
import { sealedTargets } from "./sealed-targets.ts";

const notes: Refusal = { kind: "delete", target: "data/notes.txt", real: "real/notes.txt" };
const person = { rule: "person" };

it("are deletions by each name of the file, and changes until a person has sent a message", () => {
  const changed: Refusal = { kind: "write", target: "a.ts", real: "a.ts" };
  assert.deepEqual(sealedTargets([notes, changed], undefined), ["data/notes.txt", "real/notes.txt", "a.ts"]);
  const old = [notes, changed].map((one) => ({ ...one, isOld: true }));
  assert.deepEqual(sealedTargets(old, undefined), ["data/notes.txt", "real/notes.txt"]);
});

it("exclude what a person has just allowed the call", () => {
  const folder = { kind: "delete", target: "data" } as const;
  assert.deepEqual(sealedTargets([notes], { effects: [folder], decision: person }), []);
  const other = { kind: "delete", target: "src" } as const;
  assert.equal(sealedTargets([notes], { effects: [other], decision: person }).length, 2);
  assert.equal(sealedTargets([notes], { effects: [folder], decision: { rule: "contained" } }).length, 2);
});

it("exclude the whole workspace, what a build recreates, and unknown targets", () => {
  const refusals: readonly Refusal[] = [
    { kind: "delete", target: ".", real: "." },
    { kind: "delete", target: "*", real: "*" },
    { kind: "delete", target: "dist", real: "dist" },
    { kind: "delete", target: "$f" },
    { kind: "network", target: "example.com" },
  ];
  assert.deepEqual(sealedTargets(refusals, undefined), []);
});
