/**
 * Agents are started ahead for callers that open many boxes, and used only for boxes with the same mounts.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { Duplex } from "node:stream";
import { it } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { System } from "../policy/policy.ts";
import { type Agent, type AgentSource, createAgentSource } from "./agent-source.ts";

const system = (stamp: string, ...names: readonly string[]): System => ({
  stamp,
  mounts: names.map((at) => ({ kind: "folder", at })),
});

/** A source, and a record of its starts: the number of agents and their system. */
function scene(): { readonly source: AgentSource; readonly started: (readonly [number, System])[] } {
  const started: (readonly [number, System])[] = [];
  const source = createAgentSource((count, shown) => {
    started.push([count, shown]);
    return Array.from({ length: count }, () => ({
      channel: new Duplex({ read: () => undefined }),
      base: [shown.stamp],
    }));
  });
  return { source, started };
}

it("one box starts one agent; many boxes start more agents ahead of need", async () => {
  const { source, started } = scene();
  const usual = system("1", "/a");
  const counts = (): readonly number[] => started.map(([count]) => count);
  source.take(usual);
  assert.deepEqual(counts(), [1]);
  for (let box = 0; box < 4; box++) source.take(usual);
  await setImmediate();
  assert.deepEqual(counts(), [1, 4]);
  for (let box = 0; box < 10; box++) source.take(usual);
  assert.deepEqual(counts(), [1, 4, 20]);
  await setImmediate();
  assert.deepEqual(counts(), [1, 4, 20, 32]);
  await setImmediate();
  assert.deepEqual(counts(), [1, 4, 20, 32]);
});

it("an agent is never used for a box with other mounts, or with mounts that lead elsewhere by now", () => {
  const { source, started } = scene();
  source.take(system("1", "/a"));
  const wanted = [system("1", "/a"), system("1", "/a", "/b"), system("2", "/a")];
  for (const one of wanted) assert.equal(source.take(one).base[0], one.stamp);
  assert.deepEqual(
    started.slice(1).map(([, shown]) => shown),
    wanted,
  );
  for (const one of wanted) source.take(one);
  assert.equal(started.length, 4);
});

it("an agent that has ended is never handed out", async () => {
  const made: Agent[] = [];
  const source = createAgentSource((count) => {
    const agents = Array.from({ length: count }, () => ({ channel: new Duplex(), base: [] }));
    made.push(...agents);
    return agents;
  });
  const usual = system("1");
  source.take(usual);
  source.take(usual);
  const [, , ended, next] = made;
  ended?.channel.destroy();
  await once(ended?.channel as Duplex, "close");
  assert.equal(source.take(usual), next);
});
