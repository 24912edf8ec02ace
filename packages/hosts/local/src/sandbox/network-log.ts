/** Network log: the proxy's decisions on their way to the session's log, in which a command in a loop must not fill the disk. */
import type { NetworkDecided, NetworkLog } from "@lathe/protocol";

type Decision = Omit<NetworkDecided, "times">;

export interface OpenNetworkLog extends NetworkLog {
  note(decision: Decision): void;
}

/** Different decisions that are told apart. */
const maxKinds = 1000;
const further: Decision = {
  host: "",
  port: 0,
  verdict: "refused",
  why: `more than ${maxKinds} different requests: further ones are counted`,
};

/** The first of a kind is told at once, and then each time there are ten times as many. */
export function createNetworkLog(): OpenNetworkLog {
  const kinds = new Map<string, { seen: number; told: number }>();
  const waiting: NetworkDecided[] = [];
  let listener: ((decided: NetworkDecided) => void) | undefined;
  return {
    note: ({ host, port, verdict, rule, why, address }) => {
      const exact = { host, port, verdict, why, ...(rule && { rule }), ...(address && { address }) };
      const isKnown = kinds.size < maxKinds || kinds.has(JSON.stringify(exact));
      const decision = isKnown ? exact : further;
      const key = JSON.stringify(decision);
      const { seen, told } = kinds.get(key) ?? { seen: 0, told: 0 };
      const isTold = Number.isInteger(Math.log10(seen + 1));
      kinds.set(key, { seen: seen + 1, told: isTold ? seen + 1 : told });
      if (!isTold) return;
      const decided = { ...decision, times: seen + 1 - told };
      if (listener) listener(decided);
      else waiting.push(decided);
    },
    watch: (next) => {
      listener = next;
      const early = waiting.splice(0);
      if (early.length > 0) queueMicrotask(() => early.map(next));
      return () => {
        if (listener === next) listener = undefined;
      };
    },
  };
}
