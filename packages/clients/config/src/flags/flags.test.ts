import assert from "node:assert/strict";
import { it } from "node:test";
import { isFailure } from "@lathe/protocol";
import { countFlag, numberFlag, readFlags } from "./flags.ts";

const flags = {
  model: { type: "string", value: "ID", about: "" },
  yes: { type: "boolean", short: "y", about: "" },
  allow: { type: "string", multiple: true, about: "" },
} as const;

it("reads flags and words in any order", () => {
  const line = readFlags(["do", "-y", "--allow", "a", "it", "--allow=b", "--", "--model"], flags);
  assert.ok(!isFailure(line));
  assert.deepEqual(line.words, ["do", "it", "--model"]);
  assert.deepEqual({ ...line.values }, { yes: true, allow: ["a", "b"] });
});

it("explains an error in one line", () => {
  const text = (argv: readonly string[]): string => {
    const line = readFlags(argv, flags);
    return isFailure(line) ? line.text : "";
  };
  assert.equal(text(["--modle", "x"]), "unknown option --modle; did you mean --model?");
  assert.equal(text(["-q"]), "unknown option -q");
  assert.equal(text(["--halp"]), "unknown option --halp; did you mean --help?");
  assert.equal(text(["--constructor"]), "unknown option --constructor");
  for (const argv of [["--model"], ["--model", "--yes"]])
    assert.equal(text(argv), "--model needs a value: --model ID");
  assert.equal(text(["--allow"]), "--allow needs a value: --allow VALUE");
  assert.equal(text(["--yes=1"]), "--yes takes no value");
  assert.equal(text(["--model", "-1", "--model=-x"]), "");
});

it("accepts numbers from the minimum up", () => {
  assert.equal(numberFlag("n", undefined, 1), undefined);
  assert.equal(numberFlag("n", "2.5", 0), 2.5);
  for (const wrong of ["", " ", "x", "0", "-1", "Infinity"]) assert.ok(isFailure(numberFlag("n", wrong, 1)));
  assert.equal(countFlag("n", "2", 0), 2);
  for (const wrong of ["2.5", "", "1e300", "0"]) assert.ok(isFailure(countFlag("n", wrong, 1)), wrong);
});
