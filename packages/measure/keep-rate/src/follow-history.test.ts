import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { errorsOf, storyNames } from "./sample-stories.ts";

describe("lines are followed within 3 points through", { concurrency: 2 }, () => {
  for (const name of storyNames) {
    it(name, async () => {
      for (const error of await errorsOf(name, [1]))
        assert.ok(Math.abs(error) <= 3, `off by ${error.toFixed(2)}`);
    });
  }
});
