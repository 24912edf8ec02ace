/** Log contacts: what commands try to reach becomes events as it is decided, whatever the loop is at. */

import type { LoopPorts } from "../ports.ts";
import type { Ownership } from "./ownership.ts";

/** It changes nothing of the conversation. Returns the way to stop. */
export function logContacts(own: Ownership, { network }: Pick<LoopPorts, "network">): () => void {
  const log = (entry: Parameters<Ownership["append"]>[0]): void => {
    // A refused append is thrown again when the loop receives.
    own.append(entry).catch(() => undefined);
  };
  const unwatch = network?.watch((data) =>
    log({ drafts: [{ type: "network.decided", data }], durable: false }),
  );
  return () => unwatch?.();
}
