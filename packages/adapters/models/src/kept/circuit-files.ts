/** Shares between this user's sessions which models are resting: one small file per model and address. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import {
  type CircuitUpdate,
  type Event,
  failureCodes,
  isProviderFault,
  isResting,
  type Session,
} from "@lathe/protocol";
import { writeWhole } from "@lathe/system";

/** The form that `lathe models` shows. */
export interface KnownCircuit extends CircuitUpdate {
  readonly model: string;
  /** Half-open: a session is probing whether the model has recovered, or the next one will. */
  readonly state: "open" | "half-open";
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface CircuitFiles {
  /** *Contract:* reads one small file; undefined for a healthy or unknown model. */
  news(model: string): CircuitUpdate | undefined;
  /** *Contract:* records a session event's effect on its model; best effort, never throws. */
  onEvent(event: Event, session: Session): void;
  /** The model's circuit if it rests or waits for a probe. */
  known(model: string, now: number): KnownCircuit | undefined;
  /** Call when the model has answered. */
  close(model: string): void;
}

/** While one session probes a model, others leave it alone for this many milliseconds. */
const lookMs = 60_000;
/** Older files are ignored. */
const keptMs = 86_400_000;
const version = 1;

/**
 * `folder` contains all circuits. `address` returns where the user's provider of a model is: the same id may
 * lead elsewhere tomorrow. Each file is replaced as a whole, so sessions may write at the same time: the last
 * one wins.
 */
export function createCircuitFiles(folder: string, address: (model: string) => string): CircuitFiles {
  const fileOf = (model: string): string => {
    const key = createHash("sha256").update(address(model)).digest("hex").slice(0, 24);
    return join(folder, `${key}.json`);
  };
  const read = (model: string): KnownCircuit | undefined => {
    try {
      const kept = JSON.parse(readFileSync(fileOf(model), "utf8"));
      return isKnown(kept) ? kept : undefined;
    } catch {
      return undefined;
    }
  };
  const write = (known: KnownCircuit): void => {
    const file = fileOf(known.model);
    try {
      writeWhole(file, JSON.stringify({ v: version, ...known }));
      prune(folder, known.at);
    } catch {
      // Other sessions find out themselves.
    }
  };
  const close = (model: string): void => {
    try {
      rmSync(fileOf(model), { force: true });
    } catch {
      // The circuit ends at its own time.
    }
  };
  return {
    news: (model) => {
      const known = read(model);
      return known && { until: known.until, code: known.code, why: known.why, opens: known.opens };
    },
    known: (model, now) => {
      const known = read(model);
      if (!known || now - known.at > keptMs) return undefined;
      return { ...known, state: known.until > now && known.state === "open" ? "open" : "half-open" };
    },
    close,
    onEvent: (event, session) => {
      const told = toldBy(event, session);
      if (told === "closed") close(session.model);
      else if (told) write(told);
    },
  };
}

/** An event's effect on the session's model; undefined if it has none. */
function toldBy(event: Event, { model, circuits }: Session): KnownCircuit | "closed" | undefined {
  const { at } = event;
  const circuit = circuits[model];
  if (event.type === "step.completed") return "closed";
  if (circuit?.until === undefined || circuit.heard || !isProviderFault(circuit.code)) return undefined;
  const { until, code, why, opens } = circuit;
  if (event.type === "step.failed" && event.data.rest && isResting(circuit, at)) {
    return { model, state: "open", at, until, code, why, opens };
  }
  const isLook = event.type === "model.switched" && event.data.because === "recovery";
  return isLook ? { model, state: "half-open", at, until: at + lookMs, code, why, opens } : undefined;
}

/** Another version may know other codes: this one must be able to read everything it logs. */
function isKnown(kept: Partial<KnownCircuit> & { readonly v?: unknown }): kept is KnownCircuit {
  const { v, until, opens, at, why, code } = kept;
  const areNumbers = [until, opens, at].every((one) => typeof one === "number");
  return v === version && areNumbers && typeof why === "string" && failureCodes.some((one) => one === code);
}

/** Judged by the file's own time: a file whose writer was killed, or had no space, has none inside. */
function prune(folder: string, now: number): void {
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    const { mtimeMs = now } = statSync(file, { throwIfNoEntry: false }) ?? {};
    if (now - mtimeMs > keptMs) rmSync(file, { force: true });
  }
}
