/** Budget: what a session and everything below it may use. */
import * as v from "valibot";

/** Caps for the whole tree of a session; an absent one does not bind. */
export interface Limits {
  /** Model answers in one turn. */
  readonly steps?: number;
  /** Input and output tokens of the session. */
  readonly tokens?: number;
  /** US dollars of the session. */
  readonly cost?: number;
  /** Milliseconds of one turn, waiting for a person excluded. */
  readonly wallMs?: number;
  /** Failed attempts in a row before a turn ends. */
  readonly failures?: number;
}

/** Each limit as the lower of the two. */
export function lowerLimits(one: Limits, other: Limits): Limits {
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])] as (keyof Limits)[];
  const lowest = (name: keyof Limits): number =>
    Math.min(one[name] ?? Number.POSITIVE_INFINITY, other[name] ?? Number.POSITIVE_INFINITY);
  return Object.fromEntries(names.map((name) => [name, lowest(name)]));
}

export const limitsSchema: v.GenericSchema<unknown, Limits> = v.object({
  steps: v.exactOptional(v.number()),
  tokens: v.exactOptional(v.number()),
  cost: v.exactOptional(v.number()),
  wallMs: v.exactOptional(v.number()),
  failures: v.exactOptional(v.number()),
});

const counted = v.pipe(v.number(), v.integer(), v.minValue(0));
const measured = v.pipe(v.number(), v.minValue(0));
const givenEntries = {
  steps: v.exactOptional(counted),
  tokens: v.exactOptional(counted),
  cost: v.exactOptional(measured),
  wallMs: v.exactOptional(measured),
  failures: v.exactOptional(counted),
};

export const limitNames: readonly string[] = Object.keys(givenEntries);

/** As a person writes them: a typing error must not become a limit without effect. */
export const givenLimitsSchema: v.GenericSchema<unknown, Limits> = v.strictObject(givenEntries);

/** What an attempt may use at most, set aside before it starts; `cost` is absent when the price is unknown. */
export interface Reservation {
  readonly tokens: number;
  readonly cost?: number;
}

/** The account of a root session. */
export interface Account {
  readonly tokens: number;
  readonly cost: number;
  /** True once an attempt ran whose price is unknown: `cost` is then a lower bound. */
  readonly costUnknown: boolean;
  /** Open reservations by attempt. */
  readonly reserved: Readonly<Record<string, Reservation>>;
}

export const emptyAccount: Account = { tokens: 0, cost: 0, costUnknown: false, reserved: {} };
