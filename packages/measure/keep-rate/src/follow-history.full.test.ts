import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { errorsOf, storyNames } from "./sample-stories.ts";

describe("lines are followed within 1 point through", { concurrency: 2 }, () => {
  for (const name of storyNames) {
    it(name, async () => {
      for (const error of await errorsOf(name, [1, 2, 3, 4, 5, 6, 7, 8]))
        assert.ok(Math.abs(error) <= 1, `off by ${error.toFixed(2)}`);
    });
  }
});
