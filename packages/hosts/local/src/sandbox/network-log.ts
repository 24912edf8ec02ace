/** Network log: logs the proxy's decisions, without letting a command in a loop fill the disk. */
import type { NetworkDecided, NetworkLog } from "@lathe/protocol";

type Decision = Omit<NetworkDecided, "times">;

export interface OpenNetworkLog extends NetworkLog {
  note(decision: Decision): void;
}

/** The most different decisions that are counted separately. */
const maxKinds = 1000;
const further: Decision = {
  host: "",
  port: 0,
  verdict: "refused",
  why: `more than ${maxKinds} different requests: further ones are counted`,
};

/** Reports the first decision of a kind at once, then each time its count grows tenfold. */
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
