/** Tests `lathe eval --variant`: tries and compares the arms of an experiment. */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { putTask } from "./eval-task.ts";
import { makePlace, type Place } from "./lathe.ts";

let place: Place;
beforeEach(() => {
  place = makePlace();
});
afterEach(() => place.remove());

describe("lathe eval", () => {
  it("tries the arms of an experiment side by side, and compares them", async () => {
    putTask(place, "simple");
    const arms = [{ name: "free" }, { name: "short", set: { limits: { steps: 1 } } }];
    const config = join(place.home, ".config", "lathe");
    mkdirSync(config, { recursive: true });
    const experiments = [{ name: "steps", arms, metric: "done" }];
    writeFileSync(join(config, "config.json"), JSON.stringify({ experiments }));
    const args = ["eval", "suite", "--variant", "steps", "--out", "a"];
    const { out, err } = await place.run(args);
    assert.match(out, /builtin\/repair\+free +1 +1\/1/, err);
    assert.match(out, /builtin\/repair\+short +1 +0\/1/);
    assert.match((await place.run(args)).out, /2 trials were on record already/);
    // Different settings make a different agent.
    arms[1] = { name: "short", set: { limits: { steps: 200 } } };
    writeFileSync(join(config, "config.json"), JSON.stringify({ experiments }));
    const changed = await place.run(args);
    assert.match(changed.out, /1 trials were on record already/);
    assert.match(changed.out, /\+short +1 +1\/1/);
    const compared = await place.run(["eval", "compare", "a:builtin/repair+free", "a:builtin/repair+short"]);
    assert.match(compared.out, /builtin\/repair\+short over builtin\/repair\+free: \+0\.0 points/);
    const none = await place.run(["eval", "suite", "--variant", "long"]);
    assert.match(none.err, /there is no variant long; there are steps\/free, steps\/short/);
  });
});
