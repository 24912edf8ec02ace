/** Containment: what holds commands in on this machine, found out beside the first request and asked for later. */

import { type ContainmentFacts, lazily } from "@lathe/protocol";
import type { Containment } from "@lathe/sessions";
import type { SandboxChoice } from "../local-options.ts";

export interface ContainmentProbe {
  /** *Contract:* looks once, resolves with what was found; never rejects. */
  ready(): Promise<Containment>;
  /** *Contract:* the same for policy. */
  held(): Promise<ContainmentFacts>;
  /** *Contract:* resolves once a probe that runs is over and its folder is removed; begins none. */
  close(): Promise<void>;
}

export function createContainmentProbe(
  choice: SandboxChoice,
  probe: () => Promise<Containment>,
): ContainmentProbe {
  const ready = lazily(probe);
  return {
    ready,
    held: async () => {
      const { driver } = await ready();
      return { containment: driver.tier, uncontainedAllowed: choice !== "required" };
    },
    close: async () => void (await ready.opened()),
  };
}
