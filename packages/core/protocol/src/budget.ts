/** Budget: limits for a session and its subagents. */
import * as v from "valibot";

/** Caps for the whole tree of a session; an absent one is no cap. */
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

/** The lower of both values for each limit. */
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

/** Limits as a person writes them; strict, so that a typing error is not silently ignored. */
export const givenLimitsSchema: v.GenericSchema<unknown, Limits> = v.strictObject(givenEntries);

/** The most an attempt may use, reserved before it starts; `cost` is absent if the price is unknown. */
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
