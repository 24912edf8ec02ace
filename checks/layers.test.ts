/** Checks the repository against the rules of layers.ts, one test per rule. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { rules, violations } from "./layers.ts";

const found = violations(fileURLToPath(new URL("..", import.meta.url)));

describe("layers", () => {
  for (const rule of rules) {
    it(rule, () => {
      const broken = found.filter((violation) => violation.rule === rule);
      assert.equal(broken.map(({ file, text }) => `${rule}: ${file} ${text}`).join("\n"), "");
    });
  }
});
