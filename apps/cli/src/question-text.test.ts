import assert from "node:assert/strict";
import { it } from "node:test";
import { answerOf, questionText } from "./question-text.ts";
import { palette } from "./render/palette.ts";

const asked = {
  call: "c",
  kind: "permission",
  text: "shell wants to x",
  options: ["allow", "deny"],
} as const;

it("shows the whole command on lines of its own, and why on one", () => {
  const command = `echo one\nrm -rf ${"x".repeat(300)}`;
  const call = { tool: "shell", input: JSON.stringify({ command }), effects: [], why: "it is\nnot safe" };
  assert.equal(
    questionText(asked, call, palette(false)),
    `\n? May shell do this?\n  echo one\n  rm -rf ${"x".repeat(300)}\nit is not safe\n[y]es, [n]o, or say what to do instead `,
  );
});

it("names every target of a call without a command", () => {
  const effects = ["a", "b", "c", "d"].map((target) => ({ kind: "write", target }) as const);
  const text = questionText(asked, { tool: "edit", input: "{}", effects, why: "w" }, palette(false));
  assert.match(text, / {2}write a\n {2}write b\n {2}write c\n {2}write d\nw\n/);
});

it("takes several words for yes and no, and others for what to do instead", () => {
  const answers = (words: readonly string[]): unknown => words.map((one) => answerOf(asked, one));
  assert.deepEqual(
    new Set(["y", "Yes", "OK", "okay", "sure", "allow"].map((one) => answerOf(asked, one))),
    new Set(["allow"]),
  );
  assert.deepEqual(answers(["n", "NO", "deny", "", "yes but not there"]), [
    "deny",
    "deny",
    "deny",
    undefined,
    "yes but not there",
  ]);
});

it("takes a number for an option of a question", () => {
  const question = { call: "c", kind: "question", text: "which?", options: ["red", "blue"] } as const;
  assert.deepEqual(
    ["2", "9", "green"].map((one) => answerOf(question, one)),
    ["blue", "9", "green"],
  );
});
