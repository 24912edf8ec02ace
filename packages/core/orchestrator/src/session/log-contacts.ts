/** Log contacts: logs network decisions of commands as they are made, whatever the loop does. */

import type { LoopPorts } from "../ports.ts";
import type { Ownership } from "./ownership.ts";

/** Leaves the conversation unchanged. Returns a function that stops it. */
export function logContacts(own: Ownership, { network }: Pick<LoopPorts, "network">): () => void {
  const log = (entry: Parameters<Ownership["append"]>[0]): void => {
    // The loop throws a refused append again when it receives.
    own.append(entry).catch(() => undefined);
  };
  const unwatch = network?.watch((data) =>
    log({ drafts: [{ type: "network.decided", data }], durable: false }),
  );
  return () => unwatch?.();
}
