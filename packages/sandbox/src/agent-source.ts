/** Where boxes get their agents: one process for the first box, and for who opens more of them one for many. */
import type { Channel } from "./box.ts";
import type { Groups } from "./box-request.ts";

/** The agent of a box that is to be made. */
export interface Agent {
  readonly channel: Channel;
  /** The control groups it is in. */
  readonly groups: Groups;
}

export interface AgentSource {
  /** *Contract:* a fresh agent; what keeps it from starting is told by its channel. */
  take(): Agent;
}

/** Agents that were started ahead have seen the mounts of their start, and must not grow old. */
const keptMs = 10_000;
const batch = 16;

/** *Contract:* `start` gives at least one agent, in the order in which they are to be used. */
export function createAgentSource(start: (count: number) => readonly Agent[]): AgentSource {
  let ready: readonly Agent[] = [];
  let taken = 0;
  const drop = (agents: readonly Agent[]): void => {
    const old = ready.filter((agent) => agents.includes(agent));
    ready = ready.filter((agent) => !old.includes(agent));
    for (const { channel } of old) channel.destroy();
  };
  const startMore = (): readonly Agent[] => {
    // Who opens a single sandbox needs a single agent.
    const agents = start(taken === 0 ? 1 : batch);
    for (const { channel } of agents) {
      channel.unref?.();
      // Of one that is not in use yet; who uses it hears of it too.
      channel.on("error", () => undefined);
      channel.once("close", () => {
        ready = ready.filter((agent) => agent.channel !== channel);
      });
    }
    setTimeout(drop, keptMs, agents).unref();
    return agents;
  };
  return {
    take: () => {
      if (ready.length === 0) ready = startMore();
      const [agent, ...rest] = ready as readonly [Agent, ...Agent[]];
      ready = rest;
      taken += 1;
      return agent;
    },
  };
}
