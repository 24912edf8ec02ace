/** Guarantees that a sandbox without namespaces lacks by design; all others count there as anywhere. */
import type { ProbeResult } from "./probe.ts";

const listed = "names and sockets of the machine are listed: /proc is its own";
const noSockets = "there are no sockets";
const noShared = "there is no /dev/shm";
const noTerminals = "commands open no terminals of their own";

/** By probe id. */
const notThere: Readonly<Record<string, string>> = {
  "process-list": listed,
  "shared-memory-system-v": listed,
  "net-interfaces": listed,
  "secret-all-environments":
    "command lines of the machine's processes can be read; what is in the processes cannot",
  "work-tmp-kept": "there is no private /tmp",
  "work-terminal": noTerminals,
  "work-pty": noTerminals,
  "work-server": noSockets,
  "work-server-two-commands": noSockets,
  "work-server-any-address": noSockets,
  "work-python-server": noSockets,
  "work-udp": noSockets,
  "work-unix-sockets": noSockets,
  "work-socket-two-commands": noSockets,
  "work-devices": noShared,
  "work-python-multiprocessing": noShared,
};

/** Marks the guarantees that such a sandbox does not claim as absent; never a grave one. */
export function forReducedTier(results: readonly ProbeResult[]): readonly ProbeResult[] {
  return results.map((result) => {
    const { id, outcome, isGrave } = result;
    const why = notThere[id];
    const isOpen = (outcome === "escaped" && !isGrave) || outcome === "failed";
    return why !== undefined && isOpen ? { ...result, outcome: "absent", why } : result;
  });
}
