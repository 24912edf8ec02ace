/** Send tickets: sends alerts to the tracker in the user's configuration, only when the user asks for it. */

import { createTokenCommand } from "@lathe/models";
import type { Failure } from "@lathe/protocol";
import type { Env } from "@lathe/system";
import { openTracker, readCalls, type TicketSettings, watchCalls, writeTickets } from "@lathe/telemetry";
import { withTelemetry } from "./open-telemetry.ts";

/** Resolves with the number of alerts that have or had an issue there. */
export function sendTickets(env: Env, settings: TicketSettings, version: string): Promise<number | Failure> {
  const printedToken = settings.tokenCommand && createTokenCommand(settings.tokenCommand, env);
  const access = { env, userAgent: `lathe/${version}`, printedToken };
  return withTelemetry(env, ({ facts }) =>
    writeTickets(openTracker(settings, access), watchCalls(readCalls(facts))),
  );
}
