/** Containment: what holds commands in on this machine, found out beside the first request and asked for later. */

import { type ContainmentFacts, lazily } from "@lathe/protocol";
import type { Containment } from "@lathe/sessions";
import type { SandboxChoice } from "../local-options.ts";

export interface ContainmentProbe {
  /** *Contract:* looks once, resolves with what was found; never rejects. */
  ready(): Promise<Containment>;
  /** *Contract:* the same for policy. */
  held(): Promise<ContainmentFacts>;
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
  };
}
