/** Ownership: one process's hold on a session: what it knows, appending to it, and listening to its inbox. */
import {
  type Draft,
  type Failure,
  fold,
  isEditPart,
  isFailure,
  type Offer,
  type Session,
  type SessionLog,
} from "@lathe/protocol";
import { chainOf } from "./chain.ts";
import { endsTurn } from "./next.ts";
import type { Entry, Ports } from "./ports.ts";

/** The log refused an append; the loop ends with its failure. */
export class AppendRefused extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.text);
    this.failure = failure;
  }
}

export interface Ownership {
  session(): Session;
  /** The signal of the open turn. */
  signal(): AbortSignal;
  /** *Contract:* throws `AppendRefused`. */
  append(entry: Entry): Promise<void>;
  /**
   * Turns offers into events. Answers and cancels are heard at any time; messages only here, between two actions, so
   * that none lands behind a decision made without it. *Contract:* throws `AppendRefused`.
   */
  receive(): Promise<void>;
  /** Resolves when an offer has made the session grow beyond event `head`. */
  woken(head: number): Promise<void>;
  /** *Contract:* the last append of a turn that a bug ended; never throws. */
  abandon(drafts: readonly Draft[]): Promise<Session | Failure>;
  /** *Contract:* resolves when nothing is being appended any more. */
  close(): Promise<void>;
}

export function openOwnership(log: SessionLog, start: Session, ports: Ports): Ownership {
  let session = start;
  let turn = new AbortController();
  let queue: Promise<unknown> = Promise.resolve();
  let wake = Promise.withResolvers<void>();
  let news = true;
  let refused: AppendRefused | undefined;

  /** Appends and folds one after the other, whoever asks. */
  const enqueue = <T>(work: () => Promise<T>): Promise<T> => {
    const done = queue.then(work);
    queue = done.catch(() => undefined);
    return done;
  };
  const commit = async ({ drafts, durable }: Entry): Promise<void> => {
    if (refused) throw refused;
    if (drafts.length === 0) return;
    const events = await log.append(drafts, { at: ports.clock.now(), durable });
    if (isFailure(events)) {
      refused = new AppendRefused(events);
      turn.abort();
      throw refused;
    }
    for (const event of events) {
      session = fold([event], session);
      ports.onEvent(event, session);
    }
    if (!session.turn && turn.signal.aborted) turn = new AbortController();
  };
  const take = async (messages: boolean): Promise<void> => {
    news = false;
    const pending = await ports.inbox.pending(session.id);
    const hears = messages && canHear(session, ports.clock.now());
    const ready = pending.filter(({ offer }) => offer.type !== "message" || hears);
    if (ready.length < pending.length) news = true;
    if (ready.length === 0) return;
    const fresh = ready.filter(({ id }) => !session.offers.includes(id));
    const before = session;
    await commit({ drafts: await hookedDrafts(fresh, session, ports), durable: true });
    if (session.turn?.cancelledBy !== undefined || isCalledOff(before, fresh)) turn.abort();
    const heard = ready.map(({ id }) => id);
    await ports.inbox.taken(session.id, heard);
  };
  const onOffer = () => {
    news = true;
    // A refused append is thrown again when the loop receives.
    enqueue(() => take(false))
      .catch(() => undefined)
      .finally(() => {
        wake.resolve();
        wake = Promise.withResolvers();
      });
  };
  const unwatch = ports.inbox.watch(session.id, onOffer);
  return {
    session: () => session,
    signal: () => turn.signal,
    append: (entry) => enqueue(() => commit(entry)),
    receive: () =>
      enqueue(async () => {
        if (refused) throw refused;
        if (news) await take(true);
      }),
    woken: async (head) => {
      while (session.head === head && !refused) await wake.promise;
    },
    abandon: async (drafts) => {
      await enqueue(() => commit({ drafts, durable: true })).catch(() => undefined);
      return refused?.failure ?? session;
    },
    close: () => enqueue(async () => unwatch()),
  };
}

/**
 * A message between a call and its result is invalid on every wire, and one said to a turn that is about to end would
 * never be answered: it opens the next one.
 */
function canHear(session: Session, now: number): boolean {
  if (session.calls.length > 0 || session.turn?.attempt) return false;
  return !endsTurn(session, now);
}

/** Without a turn only a compaction can be running. */
function isCalledOff({ turn, compaction }: Session, fresh: readonly { readonly offer: Offer }[]): boolean {
  return !turn && compaction !== undefined && fresh.some(({ offer }) => offer.type === "cancel");
}

interface Pending {
  readonly id: string;
  readonly offer: Offer;
}

async function hookedDrafts(fresh: readonly Pending[], session: Session, ports: Ports): Promise<Draft[]> {
  return (await Promise.all(fresh.map((one) => hookedDraftOf(one, session, ports)))).flat();
}

/** Words that a hook does not want heard are gone; its host has said so. */
async function hookedDraftOf({ id, offer }: Pending, session: Session, { hooks }: Ports): Promise<Draft[]> {
  if (offer.type !== "message" || !hooks) return draftOf(id, offer, session);
  const more = await hooks.heard(offer.text);
  if (more === undefined) return [];
  return draftOf(id, more === "" ? offer : { ...offer, more }, session);
}

function draftOf(id: string, offer: Offer & { readonly more?: string }, session: Session): Draft[] {
  switch (offer.type) {
    case "message": {
      const { more } = offer;
      const notice = { type: "text", text: `<notice from="harness">A hook adds: ${more}</notice>` } as const;
      const added = more === undefined ? [] : [notice];
      const parts = [{ type: "text", text: offer.text }, ...(offer.images ?? []), ...added] as const;
      return [{ type: "message.received", data: { parts, offer: id } }];
    }
    case "model":
      return [{ type: "session.configured", data: { ...withModel(session, offer.model), offer: id } }];
    case "compact": {
      const { focus } = offer;
      const data = { why: "asked", ...(focus !== undefined && { focus }), offer: id } as const;
      return [{ type: "compaction.requested", data }];
    }
    case "name":
      return [{ type: "session.named", data: { name: offer.name, offer: id } }];
    case "cancel":
      return [{ type: "cancel.requested", data: { by: offer.by, offer: id } }];
    case "answer": {
      const { call, question, answer, by, part } = offer;
      // An answer that came late may not decide what was asked since.
      const isAsked = session.calls.some(({ call: { id }, asked }) => id === call && asked?.seq === question);
      // Whoever meant only a part of it did not mean all of it.
      if (!isAsked || (part !== undefined && !isEditPart(part))) return [];
      const data = { call, answer, by, ...(part && { part }), offer: id };
      return [{ type: "question.answered", data }];
    }
  }
}

/** It becomes the first of the chain; a router, which would choose another one, has no say any more. */
function withModel(session: Session, model: string): Pick<Session, "settings" | "limits"> {
  const { router: _, ...settings } = session.settings;
  const models = [model, ...chainOf(session).filter((one) => one !== model)];
  return { settings: { ...settings, models }, limits: session.limits };
}
