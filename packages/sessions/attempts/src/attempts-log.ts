/** The log of a session that compares attempts at its task: begun, or claimed to continue it. */
import {
  type Attempts,
  type AttemptsVerdict,
  type Draft,
  type Failure,
  failure,
  fold,
  isFailure,
  type Limits,
  type Session,
  type SessionLog,
} from "@lathe/protocol";
import {
  modelsOf,
  type SessionHost,
  type SessionOptions,
  settingsOf,
  type Words,
  withCheckpoints,
} from "@lathe/sessions";
import { draftSession } from "@lathe/sessions/start-session";
import type { AttemptHost } from "./attempt-host.ts";

export interface AttemptsLog {
  readonly id: string;
  readonly cwd: string;
  readonly attempts: Attempts;
  /** The models it continues with; attempts without their own model use them, too. */
  readonly models: readonly string[];
  /** The task of all attempts. */
  readonly words: Words;
  /** *Contract:* durable. */
  judged(verdict: AttemptsVerdict): Promise<Failure | undefined>;
  /** *Contract:* durable, before an attempt is applied; undefined when applying it was refused. */
  taking(attempt: number | undefined): Promise<Failure | undefined>;
  /** *Contract:* durable; keeps the folder's files, so that the change can be shown and reverted. A failure to do so is logged. */
  keepFiles(moment: "before" | "after"): Promise<Failure | undefined>;
  /** *Contract:* durable; `told` is the note that a model gets if it continues the session. */
  settled(taken: number | undefined, told: string): Promise<Failure | undefined>;
  close(): Promise<void>;
}

export interface NewAttempts extends Omit<Attempts, "verdict" | "taking" | "settled"> {
  readonly id: string;
  readonly words: Words;
}

/** *Contract:* the caps of the whole tree are in its ledger before anything is spent. */
export async function beginAttemptsLog(
  { sessions: host, chain }: Pick<AttemptHost, "sessions" | "chain">,
  options: SessionOptions,
  { id, words, ...attempts }: NewAttempts,
): Promise<AttemptsLog | Failure> {
  const { limits, models, effort } = options;
  const at = host.clock.now();
  const created = await draftSession(host, options, { id, words, at });
  const capped = await capTree(host, id, limits);
  if (capped) return host.withHint(capped);
  // The session asks no model itself.
  const settings = { ...settingsOf(host, chain(models), options), ...(effort && { effort }) };
  const parts = [{ type: "text", text: words.text } as const, ...(words.images ?? [])];
  const first = [
    { type: "session.configured", data: { settings, limits } },
    { type: "message.received", data: { parts } },
    { type: "attempts.started", data: attempts },
  ] as const;
  const log = await host.stores.store.create(created, { owner: host.owner(), at, first });
  return isFailure(log) ? host.withHint(log) : opened(host, log, options);
}

async function capTree(
  { stores }: SessionHost,
  id: string,
  { cost, tokens }: Limits,
): Promise<Failure | undefined> {
  if (cost === undefined && tokens === undefined) return undefined;
  const ledger = stores.ledgers.open(id);
  const cap = { ...(cost !== undefined && { cost }), ...(tokens !== undefined && { tokens }) };
  const entered = await ledger.enter([{ type: "budget.capped", ...cap }], { durable: true });
  ledger.close();
  return isFailure(entered) ? entered : undefined;
}

/** Undefined for a session without attempts, and for one that has settled them: it continues like any other. */
export async function resumeAttemptsLog(
  host: SessionHost,
  options: SessionOptions,
  id: string,
): Promise<AttemptsLog | Failure | undefined> {
  const { store } = host.stores;
  const events = await store.read(id);
  if (isFailure(events)) return undefined;
  const { attempts } = fold(events);
  if (!attempts || attempts.settled) return undefined;
  const capped = await capTree(host, id, options.limits);
  if (capped) return host.withHint(capped);
  const log = await store.claim(id, { owner: host.owner(), at: host.clock.now() });
  return isFailure(log) ? host.withHint(log) : opened(host, log, options);
}

function opened(
  host: SessionHost,
  log: SessionLog,
  { checkpoints: isKept }: SessionOptions,
): AttemptsLog | Failure {
  const session = fold(log.events);
  const { attempts, cwd } = session;
  const words = wordsOf(session);
  if (!attempts || !words)
    return failure("log-corrupt", `session ${log.id} has no attempts`, { who: "store" });
  const append = async (drafts: readonly Draft[]): Promise<Failure | undefined> => {
    const done = await log.append(drafts, { at: host.clock.now(), durable: true });
    return isFailure(done) ? host.withHint(done) : undefined;
  };
  return {
    id: log.id,
    cwd,
    attempts,
    models: modelsOf(session),
    words,
    judged: (verdict) => append([{ type: "attempts.judged", data: verdict }]),
    taking: (attempt) =>
      append([{ type: "attempts.taking", data: attempt === undefined ? {} : { attempt } }]),
    keepFiles: async (moment) =>
      isKept ? append([await checkpointDraft(host, log, { cwd, moment })]) : undefined,
    settled: (taken, told) =>
      append([
        { type: "attempts.settled", data: taken === undefined ? {} : { taken } },
        { type: "notice.posted", data: { about: "attempts", text: told } },
        { type: "turn.ended", data: { end: { type: "done" } } },
      ]),
    close: () => log.close(),
  };
}

async function checkpointDraft(
  host: SessionHost,
  log: SessionLog,
  { cwd, moment }: { readonly cwd: string; readonly moment: "before" | "after" },
): Promise<Draft> {
  const from = performance.now();
  const place = { root: cwd, withLease: log.withLease };
  const taken = await withCheckpoints(host, place, (checkpoints) => checkpoints.take(log.id));
  const ms = Math.round(performance.now() - from);
  const data = isFailure(taken)
    ? { moment, failure: taken, skipped: 0, ms }
    : { moment, ref: taken.ref, skipped: taken.skippedCount, ms };
  return { type: "checkpoint.taken", data };
}

function wordsOf({ messages }: Session): Words | undefined {
  const first = messages.find(({ role }) => role === "user");
  if (first?.role !== "user") return undefined;
  const text = first.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  const images = first.parts.filter((part) => part.type === "image");
  return { text, ...(images.length > 0 && { images }) };
}
