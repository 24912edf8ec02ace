/**
 * A small fault storm with fixed seeds: no session is lost, no tool runs twice, and the lost time is bounded.
 */
import { it } from "node:test";
import { told, weather } from "./fault-storm-bench.test.ts";

it("a storm of 16 sessions", async (test) => {
  const seeds = Array.from({ length: 16 }, (_, i) => 1000 + i);
  test.diagnostic(told(await weather(seeds, 8)));
});
