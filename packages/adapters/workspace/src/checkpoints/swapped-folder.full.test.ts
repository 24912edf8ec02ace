/** Another process swaps a folder with a link that leads out; checkpoints contain nothing from outside. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import type { Checkpoint, Checkpoints } from "@lathe/protocol";
import { bytePath } from "@lathe/system/paths";
import { succeeded } from "@lathe/testkit";
import { withPlaces } from "../held-places.ts";
import { leastSwaps, swappingPlace } from "../swapping-folder.test.ts";
import { optionsFor } from "./checkpoint-place.test.ts";
import { linkMode } from "./git-objects.ts";
import { openCheckpoints } from "./open-checkpoints.ts";
import { readContent } from "./read-content.ts";

const place = swappingPlace(["f", "sub/f"]);
after(place.remove);

describe("a folder that is swapped constantly", { skip: place.missing ?? false }, () => {
  it("is in checkpoints with its inside content, or not at all", async (t) => {
    const checkpoints = succeeded(await openCheckpoints(optionsFor(place.root, join(place.folder, "taken"))));
    const before = place.outsideNow();
    let [count, inside] = [0, 0];
    const swaps = await place.during(async (seen) => {
      // Few of them have the folder, and few swaps meet one while it reads.
      for (; seen() < 5 * leastSwaps || inside === 0; count++) {
        const ref = await takeTen(checkpoints);
        const read = succeeded(await checkpoints.read(ref, "d/sub/f"));
        for (const path of ["d/outside-name", "link/outside-name"])
          assert.notEqual(succeeded(await checkpoints.read(ref, path)).type, "file");
        if (read.type !== "file") continue;
        inside += 1;
        assert.equal(Buffer.from(read.bytes).toString(), "inside");
      }
    });
    await checkpoints.close();
    assert.deepEqual(place.outsideNow(), before);
    t.diagnostic(`${swaps} swaps, ${inside} of ${count} checkpoints had the folder`);
    assert.ok(swaps >= leastSwaps);
  });

  it("is stored as a link only with a link's target", async (t) => {
    const path = bytePath(join(place.root, "d"));
    let [count, links] = [0, 0];
    const swaps = await place.during((seen) =>
      withPlaces(async (places) => {
        for (; seen() < 10 * leastSwaps || links === 0; count++) {
          if (count % 100 === 0) await turn();
          const content = readContent(path, 1_000, places);
          if (typeof content !== "object") continue;
          links += 1;
          assert.equal(content.leaf.mode, linkMode);
          assert.equal(content.bytes.toString(), place.outside);
        }
      }),
    );
    t.diagnostic(`${swaps} swaps, ${links} of ${count} times it was a link`);
    assert.ok(swaps >= leastSwaps);
  });
});

async function takeTen(checkpoints: Checkpoints): Promise<Checkpoint["ref"]> {
  for (let i = 0; i < 9; i++) succeeded(await checkpoints.take("s"));
  return succeeded(await checkpoints.take("s")).ref;
}
