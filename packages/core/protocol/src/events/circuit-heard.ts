/**
 * `circuit.heard`: another session found that a model is paused; logged before any decision depends on it.
 */
import * as v from "valibot";
import { type CircuitUpdate, circuitNewsEntries } from "../session/circuit.ts";
import type { EventType } from "../session/event-type.ts";

export interface CircuitHeard extends CircuitUpdate {
  /** The model's name as in the chain. */
  readonly model: string;
}

const schema: v.GenericSchema<unknown, CircuitHeard> = v.object({ model: v.string(), ...circuitNewsEntries });

export const circuitHeard: EventType<"circuit.heard", CircuitHeard> = {
  name: "circuit.heard",
  version: 1,
  schema,
  apply: (session, { data: { model, ...news }, at }) => {
    const { left } = session.circuits[model] ?? {};
    const circuit = { ...news, since: at, heard: true as const, ...(left && { left }) };
    return { ...session, circuits: { ...session.circuits, [model]: circuit } };
  },
};
