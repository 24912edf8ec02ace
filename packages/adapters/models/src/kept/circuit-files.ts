/** What the sessions of this user know of models that rest, for one another: a small file for each model at its address. */
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

/** As `lathe models` shows it. */
export interface KnownCircuit extends CircuitUpdate {
  readonly model: string;
  /** Half-open: a session looks at this moment whether the model has recovered, or the next one will. */
  readonly state: "open" | "half-open";
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface CircuitFiles {
  /** *Contract:* reads one small file; undefined for a model that is well, or of which nothing is known. */
  news(model: string): CircuitUpdate | undefined;
  /** *Contract:* writes what a session's event says of its model; best effort, never throws. */
  onEvent(event: Event, session: Session): void;
  /** Of the models, those that rest or wait for a look. */
  known(model: string, now: number): KnownCircuit | undefined;
  /** The model has answered. */
  close(model: string): void;
}

/** While one session looks the others leave the model alone, in milliseconds. */
const lookMs = 60_000;
/** Files older than this tell nobody anything. */
const keptMs = 86_400_000;
const version = 1;

/**
 * `folder`: of all circuits. `address` tells where a model's provider is for this user: the same id may lead elsewhere tomorrow.
 * Each file is replaced as a whole, so that sessions may write at the same moment: the last one knows best.
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
      // Others find out by themselves.
    }
  };
  const close = (model: string): void => {
    try {
      rmSync(fileOf(model), { force: true });
    } catch {
      // It is over at the time it names.
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

/** What an event says of the model that the session uses; undefined when it says nothing. */
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

/** Another version may know other codes: what goes into the log must be what this one can read. */
function isKnown(kept: Partial<KnownCircuit> & { readonly v?: unknown }): kept is KnownCircuit {
  const { v, until, opens, at, why, code } = kept;
  const areNumbers = [until, opens, at].every((one) => typeof one === "number");
  return v === version && areNumbers && typeof why === "string" && failureCodes.some((one) => one === code);
}

/** By the file's own time, as one whose writer was killed, or had no room, says nothing. */
function prune(folder: string, now: number): void {
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    const { mtimeMs = now } = statSync(file, { throwIfNoEntry: false }) ?? {};
    if (now - mtimeMs > keptMs) rmSync(file, { force: true });
  }
}
