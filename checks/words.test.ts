/** The words of papers and of `lathe --help`: no phrase that people stop at. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { findPhrases, phrases } from "./words.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const papers = ["README.md", "CHANGELOG.md", "AGENTS.md", "action.yml", "apps/cli/src/main.ts"];

describe("the words of papers", () => {
  for (const path of [...papers, ...globSync("docs/**/*.md", { cwd: root }).sort()]) {
    it(path, () => {
      const found = findPhrases(readFileSync(join(root, path), "utf8"));
      assert.deepEqual(
        found.map(({ line, text, say }) => `${path}:${line}: "${text}"; say: ${say}`),
        [],
      );
    });
  }

  it("are refused when they are not plain", () => {
    const samples = [
      "lathe run --continue   go on with the newest session",
      "carries what is in no commit",
      "what may happen unasked",
      "how to mend it",
      "changed by somebody else",
      "2 files put back",
      "they lie in your own configuration",
      "an ID may be cut short as long as it is the only one",
      "what you allowed for good",
      "programs that have a say",
      "what is said of each",
      "nothing could be made shorter",
    ];
    assert.equal(samples.length, phrases.length);
    for (const sample of samples) assert.equal(findPhrases(sample).length, 1, sample);
    assert.deepEqual(findPhrases("Run `lathe mend` and continue."), []);
  });
});
