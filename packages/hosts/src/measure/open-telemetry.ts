/** Telemetry of this machine: its databases, opened and up to date with the logs. */
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { type Failure, isFailure } from "@lathe/protocol";
import { type Ingested, ingest, openDatabase } from "@lathe/telemetry";
import { cacheFolder } from "../cache-folder.ts";
import { openState } from "../state.ts";

type Env = Readonly<Record<string, string | undefined>>;

export interface Telemetry {
  readonly facts: DatabaseSync;
  readonly ingested: Ingested;
}

/** *Contract:* the caller closes `facts`. */
export async function openTelemetry(env: Env): Promise<Telemetry | Failure> {
  const facts = openDatabase(join(cacheFolder(env), "telemetry", "facts.sqlite"));
  if (isFailure(facts)) return facts;
  return { facts, ingested: await ingest(facts, { store: openState(env).store, now: Date.now }) };
}
