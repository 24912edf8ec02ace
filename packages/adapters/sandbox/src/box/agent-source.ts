/** Where boxes get their agents: one process for the first box, and for who opens more of them one for many. */

import type { System } from "../policy/policy.ts";
import type { Channel } from "./box.ts";

/** The agent of a box that is to be made. */
export interface Agent {
  readonly channel: Channel;
  /** The words that the policy of its box still has to begin with. */
  readonly base: readonly string[];
}

export interface AgentSource {
  /** *Contract:* a fresh agent for a box with this system; what keeps it from starting is told by its channel. */
  take(system: System): Agent;
}

/** Agents that were started ahead have seen the mounts of their start, and must not grow old. */
const keptMs = 10_000;
/** To start some takes as long as to use many; their control groups are one. */
const most = 32;
/** Of those that were wanted lately. */
const ahead = 4;

interface Ready {
  readonly key: string;
  readonly agent: Agent;
}

/** *Contract:* `start` gives at least one agent, in the order in which they are to be used. */
export function createAgentSource(start: (count: number, system: System) => readonly Agent[]): AgentSource {
  let ready: readonly Ready[] = [];
  let takenAt: readonly number[] = [];
  let isRefilling = false;
  const drop = (agents: readonly Agent[]): void => {
    const old = ready.filter(({ agent }) => agents.includes(agent));
    ready = ready.filter((one) => !old.includes(one));
    for (const { agent } of old) agent.channel.destroy();
  };
  /** Who opens a single sandbox needs a single agent. */
  const wanted = (): number => {
    const from = performance.now() - keptMs;
    takenAt = takenAt.filter((at) => at > from);
    return Math.min(most, Math.max(1, takenAt.length * ahead));
  };
  const startMore = (key: string, system: System): void => {
    const agents = start(wanted(), system);
    for (const agent of agents) {
      agent.channel.unref?.();
      // Of one that is not in use yet; who uses it hears of it too.
      agent.channel.on("error", () => undefined);
      agent.channel.once("close", () => {
        ready = ready.filter((one) => one.agent !== agent);
      });
    }
    ready = [...ready, ...agents.map((agent) => ({ key, agent }))];
    setTimeout(drop, keptMs, agents).unref();
  };
  /** Before the last one is used: it takes many milliseconds until the next ones are in their control groups. */
  const refill = (key: string, system: System): void => {
    const left = ready.filter((one) => one.key === key).length;
    if (isRefilling || left > most / 2 || wanted() < most) return;
    isRefilling = true;
    setImmediate(() => {
      isRefilling = false;
      startMore(key, system);
    }).unref();
  };
  return {
    take: (system) => {
      const key = `${system.stamp}\n${JSON.stringify(system.mounts)}`;
      if (!ready.some((one) => one.key === key)) startMore(key, system);
      const at = ready.findIndex((one) => one.key === key);
      const { agent } = ready[at] as Ready;
      ready = ready.toSpliced(at, 1);
      takenAt = [...takenAt.slice(-most), performance.now()];
      refill(key, system);
      return agent;
    },
  };
}
