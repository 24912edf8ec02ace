/** While another process exchanges a folder with a link that leads out, 2,000 checkpoints hold nothing from outside. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { succeeded } from "@lathe/testkit";
import { swappingPlace } from "../swapping-folder.test.ts";
import { optionsFor } from "./checkpoint-place.test.ts";
import { openCheckpoints } from "./open-checkpoints.ts";

const times = 2_000;
const place = swappingPlace(["f", "sub/f"]);
after(place.remove);

describe("a folder that is swapped all the time", { skip: place.missing ?? false }, () => {
  it("is in checkpoints as it is inside, or not at all", async (t) => {
    const checkpoints = succeeded(await openCheckpoints(optionsFor(place.root, join(place.folder, "taken"))));
    const before = place.outsideNow();
    let inside = 0;
    const swaps = await place.during(async () => {
      for (let i = 0; i < times; i++) {
        const { ref } = succeeded(await checkpoints.take("s"));
        if (i % 20 !== 0) continue;
        const read = succeeded(await checkpoints.read(ref, "d/sub/f"));
        if (read.type !== "file") continue;
        inside += 1;
        assert.equal(Buffer.from(read.bytes).toString(), "inside");
        for (const path of ["d/outside-name", "link/outside-name"])
          assert.notEqual(succeeded(await checkpoints.read(ref, path)).type, "file");
      }
    });
    await checkpoints.close();
    assert.deepEqual(place.outsideNow(), before);
    t.diagnostic(`${swaps} swaps, ${inside} of ${times / 20} checkpoints had the folder`);
    assert.ok(inside > 0);
  });
});
