import assert from "node:assert/strict";
import { it } from "node:test";
import type { NetworkDecided } from "@lathe/protocol";
import { createNetworkLog } from "./network-log.ts";

const decision = { host: "a.example", port: 443, verdict: "allowed", why: "a rule allows it" } as const;

it("reports each decision once, including those before there was a listener", async () => {
  const log = createNetworkLog();
  const heard: NetworkDecided[] = [];
  log.note(decision);
  const stop = log.watch((one) => heard.push(one));
  assert.deepEqual(heard, []);
  await Promise.resolve();
  log.note({ ...decision, host: "b.example" });
  assert.deepEqual(
    heard.map(({ host, times }) => [host, times]),
    [
      ["a.example", 1],
      ["b.example", 1],
    ],
  );
  stop();
  log.note({ ...decision, host: "c.example" });
  assert.equal(heard.length, 2);
});

it("counts repeated decisions, and those beyond the limit together", () => {
  const log = createNetworkLog();
  const heard: NetworkDecided[] = [];
  log.watch((one) => heard.push(one));
  for (let i = 0; i < 250; i++) log.note(decision);
  assert.deepEqual(
    heard.map(({ times }) => times),
    [1, 9, 90],
  );
  for (let i = 0; i < 5000; i++) log.note({ ...decision, host: `h${i}.example` });
  assert.ok(heard.length < 1010);
  assert.match(heard.at(-1)?.why ?? "", /more than 1000/);
});
