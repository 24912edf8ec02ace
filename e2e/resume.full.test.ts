/** Tests `kill -9` at random instants, many times; LATHE_KILLS=3 triples the number. */
import { describe, it } from "node:test";
import { assertJobDone, runWithKills, startJobServer } from "./counting-agent.ts";
import { makePlace } from "./lathe.ts";

const wantedKills = 70 * Number(process.env.LATHE_KILLS ?? 1);
const killsPerRound = 6;
const atOnce = 2;
/** By then a job has ended, even on a slow machine. */
const longestMs = 500;

describe("resume", () => {
  it(`continues after kill -9 at ${wantedKills} random instants`, async () => {
    let kills = 0;
    const work = async (): Promise<void> => {
      while (kills < wantedKills) kills += await round();
    };
    await Promise.all(Array.from({ length: atOnce }, work));
  });
});

/** Returns how many kills came in time. */
async function round(): Promise<number> {
  const place = makePlace();
  const server = await startJobServer();
  const delays = Array.from({ length: killsPerRound }, () => Math.random() * longestMs);
  try {
    const run = await runWithKills(place, server, delays);
    await assertJobDone(place, run);
    return run.kills;
  } catch (cause) {
    throw new Error(`killed after ${delays.map(Math.round).join(", ")} ms`, { cause });
  } finally {
    await server.close();
    place.remove();
  }
}
