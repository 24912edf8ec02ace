import assert from "node:assert/strict";
import { it } from "node:test";
import { failure } from "@lathe/protocol";
import { explained } from "./explained.ts";

it("names the folder and what to do, and leaves other failures as they are", () => {
  const env = { XDG_STATE_HOME: "/state" };
  const full = failure("disk-full", "offering to session x: the disk is full", { who: "host" });
  assert.match(
    explained(full, env).text,
    /disk is full; .*\/state\/lathe: free some space there, or set XDG_STATE_HOME/,
  );
  const stale = failure("stale-epoch", "another process has it");
  assert.equal(explained(stale, env), stale);
});
