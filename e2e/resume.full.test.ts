/** `kill -9` at random instants, many times over. */
import { describe, it } from "node:test";
import { assertJobDone, runWithKills, startJobServer } from "./counting-agent.ts";
import { makePlace } from "./lathe.ts";

const rounds = 20;
const killsPerRound = 4;
/** A whole job takes about so long here. */
const longestMs = 900;

describe("resume", () => {
  it("goes on after kill -9 at any instant", async () => {
    for (let round = 0; round < rounds; round++) {
      const place = makePlace();
      const server = await startJobServer();
      const delays = Array.from({ length: killsPerRound }, () => Math.random() * longestMs);
      try {
        await runWithKills(place, server, delays);
        await assertJobDone(place);
      } catch (cause) {
        throw new Error(`killed after ${delays.map(Math.round).join(", ")} ms`, { cause });
      } finally {
        await server.close();
        place.remove();
      }
    }
  });
});
