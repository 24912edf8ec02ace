/** The fault storm: 500 sessions, from a new seed each time; `STORM_SEED` repeats one. */
import { it } from "node:test";
import { told, weather } from "./fault-storm-bench.test.ts";

it("a storm of 500 sessions", async (test) => {
  const first = Number(process.env.STORM_SEED ?? Math.floor(Math.random() * 1e6));
  test.diagnostic(`seeds ${first} to ${first + 499}: STORM_SEED=${first} repeats them`);
  const seeds = Array.from({ length: 500 }, (_, i) => first + i);
  test.diagnostic(told(await weather(seeds, 16)));
});
