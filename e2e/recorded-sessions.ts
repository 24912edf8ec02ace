/**
 * Reads the sessions in a run's home without claiming them, and checks that their requests extend each other.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { assemble } from "@lathe/context";
import { type Event, fold } from "@lathe/protocol";
import { brokenPrefixes } from "@lathe/testkit";

export interface Recorded {
  readonly requests: number;
  /**
   * A sentence for each request that does not extend the one before it without an event that explains why.
   */
  readonly broken: readonly string[];
}

export function recordedSessions(home: string): Recorded {
  const logs = logsIn(join(home, ".local", "state", "lathe", "sessions"))
    .map(eventsOf)
    .filter(isWhole);
  const requests = logs.flat().filter(({ type }) => type === "step.started").length;
  return { requests, broken: logs.flatMap((events) => brokenPrefixes(events, assemble)) };
}

function logsIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(".jsonl"))
      .map((name) => join(folder, name));
  } catch {
    return [];
  }
}

/** Reads up to the first invalid line: a process may have been killed there. */
function eventsOf(path: string): readonly Event[] {
  const events: Event[] = [];
  for (const line of readFileSync(path, "utf8").split("\n")) {
    const event = eventIn(line);
    if (event?.seq === events.length + 1) events.push(event);
  }
  return events;
}

function eventIn(line: string): Event | undefined {
  try {
    return JSON.parse(line) as Event;
  } catch {
    return undefined;
  }
}

function isWhole(events: readonly Event[]): boolean {
  try {
    return fold(events).head > 0;
  } catch {
    return false;
  }
}
