/** An agent started ahead, for who opens one sandbox after the other: the next one need not wait for its process. */
import type { Channel } from "./box.ts";

/** It has seen the mounts of its start, and must not grow old. */
const keptMs = 10_000;

export interface AgentSource {
  /** *Contract:* a channel to a fresh agent, which may have been started a moment before. */
  take(): Channel;
  /** Starts the next one ahead, if so many were taken that another is likely. */
  prepare(): void;
}

export function createAgentSource(start: () => Channel): AgentSource {
  let spare: Channel | undefined;
  let taken = 0;
  const drop = (channel: Channel): void => {
    if (spare === channel) spare = undefined;
  };
  return {
    take: () => {
      taken += 1;
      const ready = spare;
      spare = undefined;
      return ready ?? start();
    },
    prepare: () => {
      // Who opens a single sandbox is about to end, not to open another.
      if (spare !== undefined || taken < 2) return;
      const channel = start();
      spare = channel;
      channel.unref?.();
      channel.once("close", () => drop(channel));
      channel.once("error", () => drop(channel));
      const old = setTimeout(() => {
        if (spare !== channel) return;
        drop(channel);
        channel.end();
        channel.resume();
      }, keptMs);
      old.unref();
    },
  };
}
