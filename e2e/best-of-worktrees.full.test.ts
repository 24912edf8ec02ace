/** `lathe run --best-of` in git working trees that somebody decides on later. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { attemptsBench } from "./attempts-bench.ts";

describe("lathe run --best-of, in git working trees", () => {
  const bench = attemptsBench(2);
  const { bestOf, word, forks, assertNothingLeft } = bench;

  it("keeps them where nothing is to be taken over, until somebody decides", async () => {
    const { code, err } = await bench.place.run(bestOf("--worktree", "--no-apply"));
    assert.equal(code, 0, err);
    assert.equal(word(), "none\n");
    const [first, second] = await forks();
    const { out } = await bench.place.run(["sessions", "list"]);
    assert.match(
      out,
      /\n2 copies of folders are .*: `lathe fork list`.*`lathe fork diff\|keep\|drop ID`.*\n$/,
    );
    assert.match(err, new RegExp(`attempt 2 \\(best\\): .*fork keep ${second?.id}`));
    assert.equal((await bench.place.run(["fork", "drop", first?.id ?? ""])).code, 0);
    assert.equal((await bench.place.run(["fork", "keep", second?.id ?? ""])).code, 0);
    assert.equal(word(), "right\n");
    await assertNothingLeft();
    assert.doesNotMatch((await bench.place.run(["sessions", "list"])).out, /fork list/);
  });
});
