/** Another process swaps a folder with a link that leads out; restores change nothing outside. */
import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { type Failure, isFailure } from "@lathe/protocol";
import { succeeded } from "@lathe/testkit";
import { leastSwaps, swappingPlace } from "../swapping-folder.test.ts";
import { optionsFor } from "./checkpoint-place.test.ts";
import { openCheckpoints } from "./open-checkpoints.ts";

/** Each writes durably, so a swap more costs less than a restore more. */
const leastRestores = leastSwaps / 50;
const place = swappingPlace(["f", "sub/f"]);
after(place.remove);
const refusals: ReadonlySet<string> = new Set(["outside-workspace", "stale-version", "not-found"]);

describe("a folder that is swapped constantly", { skip: place.missing ?? false }, () => {
  it("is restored inside, or not at all", async (t) => {
    const checkpoints = succeeded(await openCheckpoints(optionsFor(place.root, join(place.folder, "back"))));
    const { ref } = succeeded(await checkpoints.take("s"));
    const before = place.outsideNow();
    const refused: Failure[] = [];
    let count = 0;
    const swaps = await place.during(async (seen) => {
      for (; seen() < leastSwaps || count < leastRestores || refused.length === count; count++) {
        change(count);
        const restored = await checkpoints.restore(ref, { session: "s" });
        if (isFailure(restored)) refused.push(restored);
      }
    });
    await checkpoints.close();
    assert.deepEqual(place.outsideNow(), before);
    const others = refused.filter(({ code }) => !refusals.has(code));
    t.diagnostic(`${swaps} swaps, ${refused.length} of ${count} restores refused`);
    assert.deepEqual(others, []);
    assert.ok(swaps >= leastSwaps && refused.length < count);
  });
});

/** As a command would, which cannot leave the folder: what it makes outside is taken for Lathe's doing. */
function change(i: number): void {
  writeFileSync(join(place.root, `top${i % 5}`), `${i}`);
  if (i % 3 === 0) rmSync(join(place.root, `top${(i + 1) % 5}`), { force: true });
}
