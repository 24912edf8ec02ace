/** The fault storm: 200 fixed sessions; `--explore` picks random seeds, `STORM_SEED` repeats those. */
import { it } from "node:test";
import { seed } from "@lathe/testkit/properties";
import { told, weather } from "./fault-storm-bench.test.ts";

it("a storm of 200 sessions", async (test) => {
  const first = Number(process.env.STORM_SEED ?? seed);
  test.diagnostic(`seeds ${first} to ${first + 199}: STORM_SEED=${first} repeats them`);
  const seeds = Array.from({ length: 200 }, (_, i) => first + i);
  test.diagnostic(told(await weather(seeds, 16)));
});
