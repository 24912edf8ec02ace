/** The ledger: the one account of a session and everything below it, folded from entries whose order decides. */
import * as v from "valibot";
import type { Limits, Reservation } from "../budget.ts";
import type { Failure } from "../failure.ts";
import type { Owner } from "./owner.ts";

/** What the whole tree may use; an absent one does not bind. */
export type TreeCap = Pick<Limits, "tokens" | "cost">;

export type LedgerEntry =
  /** What the root had used before it had a ledger; counts only as the first entry. */
  | {
      readonly type: "budget.opened";
      readonly tokens: number;
      readonly cost: number;
      readonly costUnknown: boolean;
    }
  /** The cap of every reservation behind it. */
  | ({ readonly type: "budget.capped" } & TreeCap)
  /** Counts only if it fits under the cap, with all that is used and open before it. */
  | ({
      readonly type: "budget.reserved";
      readonly session: string;
      readonly attempt: string;
      /** The process that makes the attempt. */
      readonly owner: Owner;
    } & Reservation)
  /** Of an open reservation; any other changes nothing. */
  | ({
      readonly type: "budget.settled";
      readonly session: string;
      readonly attempt: string;
    } & Reservation);

type Reserved = Extract<LedgerEntry, { type: "budget.reserved" }>;

/** Money is counted in whole billionths of a dollar, rounded up, so that sums are exact in any order. */
export interface SpentBudget {
  readonly tokens: number;
  readonly nanos: number;
  /** An attempt ran whose price is unknown: the money is a lower bound. */
  readonly costUnknown: boolean;
}

export interface TreeAccount {
  readonly entries: number;
  readonly cap: TreeCap;
  readonly used: SpentBudget;
  /** By session; what was used before there was a ledger is in `used` alone. */
  readonly sessions: ReadonlyMap<string, SpentBudget>;
  readonly open: readonly Reserved[];
}

export interface Ledger {
  /** *Contract:* the account now, with what other processes entered. */
  read(): Promise<TreeAccount | Failure>;
  /**
   * *Contract:* enters at the end, in order, and returns the account behind it, the same for every process. A reservation that did not
   * fit is not among `open`. Survives `kill -9` once it resolves, a power cut too when `durable`.
   */
  enter(
    entries: readonly LedgerEntry[],
    options: { readonly durable: boolean },
  ): Promise<TreeAccount | Failure>;
  /** *Contract:* settles what processes that are known to be dead hold open, at all they reserved; how many these were. */
  settleDead(): Promise<number | Failure>;
  /** *Contract:* resolves after the next entry of anybody, after the signal, or after 250 ms. */
  changed(signal: AbortSignal): Promise<void>;
  /** *Contract:* idempotent. */
  close(): void;
}

export interface Ledgers {
  /** *Contract:* nothing is read or made before the ledger is first used. */
  open(root: string): Ledger;
}

const nothing: SpentBudget = { tokens: 0, nanos: 0, costUnknown: false };

export const emptyTreeAccount: TreeAccount = {
  entries: 0,
  cap: {},
  used: nothing,
  sessions: new Map(),
  open: [],
};

const reservation = { tokens: v.number(), cost: v.exactOptional(v.number()) };
const attempt = { session: v.string(), attempt: v.string() };
const entrySchema: v.GenericSchema<unknown, LedgerEntry> = v.variant("type", [
  v.object({
    type: v.literal("budget.opened"),
    tokens: v.number(),
    cost: v.number(),
    costUnknown: v.boolean(),
  }),
  v.object({
    type: v.literal("budget.capped"),
    tokens: v.exactOptional(v.number()),
    cost: v.exactOptional(v.number()),
  }),
  v.object({
    type: v.literal("budget.reserved"),
    ...attempt,
    owner: v.object({ host: v.string(), pid: v.number(), startedAt: v.number() }),
    ...reservation,
  }),
  v.object({ type: v.literal("budget.settled"), ...attempt, ...reservation }),
]);

/** Undefined for what is no entry: a write that was cut short, and never counted. */
export function readLedgerEntry(value: unknown): LedgerEntry | undefined {
  const read = v.safeParse(entrySchema, value);
  return read.success ? read.output : undefined;
}

/** Applies one entry. Pure and total: all who read the entries in their order have the same account. */
export function applyLedgerEntry(account: TreeAccount, entry: LedgerEntry): TreeAccount {
  const next = { ...account, entries: account.entries + 1 };
  switch (entry.type) {
    case "budget.opened": {
      if (account.entries > 0) return next;
      const { tokens, cost, costUnknown } = entry;
      return { ...next, used: { tokens, nanos: nanosOf(cost), costUnknown } };
    }
    case "budget.capped": {
      const { type: _, ...cap } = entry;
      return { ...next, cap };
    }
    case "budget.reserved":
      if (find(account, entry) || !fits(account, entry)) return next;
      return { ...next, open: [...account.open, entry] };
    case "budget.settled":
      return settle(next, entry);
  }
}

function settle(account: TreeAccount, entry: Extract<LedgerEntry, { type: "budget.settled" }>): TreeAccount {
  const held = find(account, entry);
  if (!held) return account;
  const sessions = new Map(account.sessions);
  sessions.set(entry.session, plus(sessions.get(entry.session) ?? nothing, entry));
  const open = account.open.filter((one) => one !== held);
  return { ...account, used: plus(account.used, entry), sessions, open };
}

function find({ open }: TreeAccount, { session, attempt: id }: Attempted): Reserved | undefined {
  return open.find((one) => one.session === session && one.attempt === id);
}

type Attempted = Pick<Reserved, "session" | "attempt">;

/** Whether an attempt's reservation counts. */
export function isReserved(account: TreeAccount, attempted: Attempted): boolean {
  return find(account, attempted) !== undefined;
}

function fits(account: TreeAccount, wanted: Reservation): boolean {
  const { tokens, nanos } = left(account);
  return wanted.tokens <= tokens && nanosOf(wanted.cost ?? 0) <= nanos;
}

/** What the cap leaves for the next reservation; below 0 when more was used than it allows. */
export function remainingBudget(account: TreeAccount): { readonly tokens: number; readonly cost: number } {
  const { tokens, nanos } = left(account);
  return { tokens, cost: nanos / 1e9 };
}

function left({ cap, open, used }: TreeAccount): { readonly tokens: number; readonly nanos: number } {
  const held = open.reduce(plus, used);
  const { tokens = Number.POSITIVE_INFINITY, cost = Number.POSITIVE_INFINITY } = cap;
  return { tokens: tokens - held.tokens, nanos: Math.floor(cost * 1e9) - held.nanos };
}

function plus(spent: SpentBudget, { tokens, cost }: Reservation): SpentBudget {
  return {
    tokens: spent.tokens + tokens,
    nanos: spent.nanos + nanosOf(cost ?? 0),
    costUnknown: spent.costUnknown || cost === undefined,
  };
}

/** The tolerance is for what floating point made of a whole number of billionths. */
function nanosOf(dollars: number): number {
  return Math.ceil(dollars * 1e9 - 1e-4);
}
