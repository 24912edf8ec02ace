/**
 * Provides agents for boxes: one process for the first box; after more boxes, one process for many agents.
 */

import type { System } from "../policy/policy.ts";
import type { Channel } from "./box.ts";

/** The agent of a new box. */
export interface Agent {
  readonly channel: Channel;
  /** The start of its box's policy. */
  readonly base: readonly string[];
}

export interface AgentSource {
  /** *Contract:* returns a fresh agent for a box with this system; its channel reports a failed start. */
  take(system: System): Agent;
}

/** Agents started ahead have the mounts of their start, and must not grow old. */
const keptMs = 10_000;
/** Starting a few takes as long as using many; they share control groups. */
const most = 32;
/** Agents to have ready for each one that was wanted recently. */
const ahead = 4;

interface Ready {
  readonly key: string;
  readonly agent: Agent;
}

/** *Contract:* `start` returns at least one agent, in the order of use. */
export function createAgentSource(start: (count: number, system: System) => readonly Agent[]): AgentSource {
  let ready: readonly Ready[] = [];
  let takenAt: readonly number[] = [];
  let isRefilling = false;
  const drop = (agents: readonly Agent[]): void => {
    const old = ready.filter(({ agent }) => agents.includes(agent));
    ready = ready.filter((one) => !old.includes(one));
    for (const { agent } of old) agent.channel.destroy();
  };
  /** The first sandbox needs only a single agent. */
  const wanted = (): number => {
    const from = performance.now() - keptMs;
    takenAt = takenAt.filter((at) => at > from);
    return Math.min(most, Math.max(1, takenAt.length * ahead));
  };
  const startMore = (key: string, system: System): void => {
    const agents = start(wanted(), system);
    for (const agent of agents) {
      agent.channel.unref?.();
      // For an unused agent; the user of an agent gets the error too.
      agent.channel.on("error", () => undefined);
      agent.channel.once("close", () => {
        ready = ready.filter((one) => one.agent !== agent);
      });
    }
    ready = [...ready, ...agents.map((agent) => ({ key, agent }))];
    setTimeout(drop, keptMs, agents).unref();
  };
  /**
   * Refill before the last one is used: it takes many milliseconds until new ones are in their control
   * groups.
   */
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
