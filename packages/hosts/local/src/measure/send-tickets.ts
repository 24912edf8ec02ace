/** Send tickets: alerts to the tracker that the user's configuration names; nothing is sent but on the user's word. */

import { type Failure, failure } from "@lathe/protocol";
import type { Env } from "@lathe/system";
import {
  githubTickets,
  linearTickets,
  readCalls,
  type Tickets,
  type TrackerOptions,
  watchCalls,
  writeTickets,
} from "@lathe/telemetry";
import { createTokenCommand } from "../models/token-command.ts";
import { openTelemetry } from "./open-telemetry.ts";

/** Where alerts become issues. */
export type TicketSettings = (
  | { readonly kind: "github"; readonly repository: string }
  | { readonly kind: "linear"; readonly team: string }
) & { readonly tokenCommand?: readonly string[]; readonly baseUrl?: string };

/** How many alerts have an issue there, or had one. */
export async function sendTickets(
  env: Env,
  settings: TicketSettings,
  version: string,
): Promise<number | Failure> {
  const { facts } = await openTelemetry(env);
  try {
    return await writeTickets(openTickets(env, settings, version), watchCalls(readCalls(facts)));
  } finally {
    facts.close();
  }
}

function openTickets(env: Env, settings: TicketSettings, version: string): Tickets {
  const { tokenCommand, baseUrl } = settings;
  const names = settings.kind === "github" ? ["GITHUB_TOKEN", "GH_TOKEN"] : ["LINEAR_API_KEY"];
  const command = tokenCommand && createTokenCommand(tokenCommand, env);
  const found = names.map((name) => env[name]).find((value) => value);
  const missing = failure(
    "unauthorized",
    `there is no token for tickets: set ${names.join(" or ")}, or "tokenCommand" beside the kind of tickets`,
    { who: "user" },
  );
  const options: TrackerOptions = {
    ...(baseUrl !== undefined && { baseUrl: baseUrl.replace(/\/+$/, "") }),
    token: async () => (command ? command() : (found ?? missing)),
    userAgent: `lathe/${version}`,
  };
  return settings.kind === "github"
    ? githubTickets({ ...options, repository: settings.repository })
    : linearTickets({ ...options, team: settings.team });
}
