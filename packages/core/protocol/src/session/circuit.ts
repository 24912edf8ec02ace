/** Circuits: which models of a session rest because their provider failed, until when, and why. */
import * as v from "valibot";
import { type FailureCode, failureCodes } from "../failure.ts";

/** A failed attempt's verdict on its model: it rests. */
export interface ModelRest {
  /** Milliseconds since the epoch; absent when the conversation is too long, which time does not mend. */
  readonly until?: number;
  /** The provider named the time. */
  readonly asked?: true;
  /** The window that the conversation did not fit into, in tokens. */
  readonly window?: number;
}

export const restSchema: v.GenericSchema<unknown, ModelRest> = v.object({
  until: v.exactOptional(v.number()),
  asked: v.exactOptional(v.literal(true)),
  window: v.exactOptional(v.number()),
});

/**
 * A circuit that is not closed. Open until `until`; from then on half-open: one attempt may find out whether the model
 * has recovered, and closes it, or opens it for longer.
 */
export interface Circuit extends ModelRest {
  readonly code: FailureCode;
  readonly why: string;
  /** When it was opened, milliseconds since the epoch. */
  readonly since: number;
  /** Times it was opened in a row. */
  readonly opens: number;
  /** Another session found it out; this one has not tried since. */
  readonly heard?: true;
  /** The session left the model because of it, and goes back once it has recovered. */
  readonly left?: true;
}

/** What one session tells the others of a model. */
export interface CircuitUpdate {
  readonly until: number;
  readonly code: FailureCode;
  readonly why: string;
  readonly opens: number;
}

export const circuitNewsEntries: {
  readonly until: v.NumberSchema<undefined>;
  readonly code: v.PicklistSchema<typeof failureCodes, undefined>;
  readonly why: v.StringSchema<undefined>;
  readonly opens: v.NumberSchema<undefined>;
} = { until: v.number(), code: v.picklist(failureCodes), why: v.string(), opens: v.number() };

/** By the model's id as the chain has it. */
export type Circuits = Readonly<Record<string, Circuit>>;

/** Whether the model should not be called now. */
export function isResting(circuit: Circuit | undefined, now: number): boolean {
  return circuit !== undefined && (circuit.until === undefined || circuit.until > now);
}

/** The conversation is another one: what could not take the old one may be tried. */
export function halfOpened(circuits: Circuits, at: number): Circuits {
  const entries = Object.entries(circuits).map(([model, { until = at, window: _, ...circuit }]) => {
    return [model, { ...circuit, until }] as const;
  });
  return Object.fromEntries(entries);
}

const providerCodes: ReadonlySet<FailureCode> = new Set([
  "rate-limited",
  "overloaded",
  "server-error",
  "unreachable",
  "stalled",
  "stream-broken",
]);

/** Whether a failure says something of the provider; all others lie in the request, the key or the settings. */
export function isProviderFault(code: FailureCode): boolean {
  return providerCodes.has(code);
}
