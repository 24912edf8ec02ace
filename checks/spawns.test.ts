/** Checks the repository against the rules of spawns.ts, one test per rule. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { spawnRules, spawnViolations } from "./spawns.ts";

const found = spawnViolations(fileURLToPath(new URL("..", import.meta.url)));

describe("spawns", () => {
  for (const rule of spawnRules) {
    it(rule, () => {
      const broken = found.filter((violation) => violation.rule === rule);
      assert.equal(broken.map(({ file, text }) => `${rule}: ${file} ${text}`).join("\n"), "");
    });
  }
});
