/** Hearing: hooks have their say about a person's words before these are heard; all else goes on meanwhile. */
import type { InboxMessage, Session } from "@lathe/protocol";
import type { LoopPorts } from "../ports.ts";

export interface Pending {
  readonly id: string;
  readonly offer: InboxMessage;
}

/** An offer with what a hook adds to it. */
export type HookedMessage = InboxMessage & { readonly more?: string };

export interface Hearing {
  /** *Contract:* asks hooks about the words that wait, once about each. */
  ask(session: Session): Promise<void>;
  /** Whether nobody has to be asked any more. */
  isOver(one: Pending): boolean;
  /** Nothing where a hook does not want it heard; its host has said so. */
  heard(one: Pending): readonly HookedMessage[];
  /** What is being asked now is not heard. */
  stop(): void;
}

export function openHearing({ hooks, inbox }: Pick<LoopPorts, "hooks" | "inbox">): Hearing {
  const said = new Map<string, string | undefined>();
  let asking = new AbortController();
  const isOver = ({ id, offer }: Pending): boolean => !hooks || offer.type !== "message" || said.has(id);
  return {
    async ask(session) {
      if (!hooks) return;
      asking = new AbortController();
      const { signal } = asking;
      const askAbout = async ({ id, offer }: Pending): Promise<void> => {
        if (offer.type !== "message") return;
        // What was heard before a death is not heard again.
        const isHeard = session.offers.includes(id);
        said.set(id, isHeard ? undefined : await hooks.heard(offer.text, signal));
      };
      const waiting = await inbox.pending(session.id);
      await Promise.all(waiting.filter((one) => !isOver(one)).map(askAbout));
    },
    isOver,
    heard({ id, offer }) {
      if (offer.type !== "message" || !hooks) return [offer];
      const more = said.get(id);
      if (more === undefined) return [];
      return [more === "" ? offer : { ...offer, more }];
    },
    stop: () => asking.abort(),
  };
}
