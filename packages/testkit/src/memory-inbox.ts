/** An inbox in memory, one part of MemoryStore. */
import type { Failure, Inbox, InboxMessage } from "@lathe/protocol";

interface Waiting {
  readonly id: string;
  readonly offer: InboxMessage;
}

export function createMemoryInbox(fault: () => Failure | undefined): Inbox {
  const waiting = new Map<string, readonly Waiting[]>();
  const listeners = new Map<string, Set<() => void>>();
  let last = 0;
  const of = (session: string): readonly Waiting[] => waiting.get(session) ?? [];
  return {
    async offer(session, offer) {
      const fails = fault();
      if (fails) return fails;
      last += 1;
      const id = `offer-${String(last).padStart(6, "0")}`;
      waiting.set(session, [...of(session), { id, offer: structuredClone(offer) }]);
      for (const listener of listeners.get(session) ?? []) listener();
      return undefined;
    },
    pending: async (session) => of(session),
    async taken(session, ids) {
      waiting.set(
        session,
        of(session).filter(({ id }) => !ids.includes(id)),
      );
    },
    watch(session, listener) {
      // One wrapper per call, so that a listener given twice is stopped once.
      const call = (): void => listener();
      const all = listeners.get(session) ?? new Set();
      listeners.set(session, all.add(call));
      if (of(session).length > 0) queueMicrotask(() => all.has(call) && call());
      return () => void all.delete(call);
    },
  };
}
