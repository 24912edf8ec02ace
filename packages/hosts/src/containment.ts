/** Containment: what holds commands in on this machine, found out beside the first request and asked for later. */
import type { Facts, SandboxDriver } from "@lathe/protocol";
import type { SandboxChoice } from "./local-options.ts";

/** What holds commands in, and what was tried to find out. */
export interface Containment {
  readonly driver: SandboxDriver;
  /** Why no better driver was chosen, one sentence each. */
  readonly reasons: readonly string[];
}

/** The facts for policy. They are read when a call is judged; until `ready` they say that nothing holds. */
export interface ContainmentProbe {
  readonly facts: Pick<Facts, "containment" | "uncontainedAllowed">;
  /** *Contract:* looks once, resolves with what was found; never rejects. */
  ready(): Promise<Containment>;
}

export function createContainmentProbe(
  choice: SandboxChoice,
  probe: () => Promise<Containment>,
): ContainmentProbe {
  let looking: Promise<Containment> | undefined;
  let found: Containment | undefined;
  const look = async (): Promise<Containment> => {
    found = await probe();
    return found;
  };
  return {
    facts: {
      get containment() {
        return found?.driver.tier ?? "none";
      },
      uncontainedAllowed: choice !== "required",
    },
    ready: () => {
      looking ??= look();
      return looking;
    },
  };
}
