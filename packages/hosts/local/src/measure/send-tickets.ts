/** Send tickets: alerts to the tracker that the user's configuration names; nothing is sent but on the user's word. */

import { createTokenCommand } from "@lathe/models";
import type { Failure } from "@lathe/protocol";
import type { Env } from "@lathe/system";
import { openTracker, readCalls, type TicketSettings, watchCalls, writeTickets } from "@lathe/telemetry";
import { withTelemetry } from "./open-telemetry.ts";

/** How many alerts have an issue there, or had one. */
export function sendTickets(env: Env, settings: TicketSettings, version: string): Promise<number | Failure> {
  const printedToken = settings.tokenCommand && createTokenCommand(settings.tokenCommand, env);
  const access = { env, userAgent: `lathe/${version}`, printedToken };
  return withTelemetry(env, ({ facts }) =>
    writeTickets(openTracker(settings, access), watchCalls(readCalls(facts))),
  );
}
