/** Open tracker: the tracker that the user's configuration names, where alerts become issues. */
import { type Failure, failure } from "@lathe/protocol";
import type { Env } from "@lathe/system";
import { githubTickets } from "./github-tickets.ts";
import { linearTickets } from "./linear-tickets.ts";
import type { TrackerOptions } from "./remote-issues.ts";
import type { Tickets } from "./tickets.ts";

/** The place where alerts become issues. */
export type TicketSettings = (
  | { readonly kind: "github"; readonly repository: string }
  | { readonly kind: "linear"; readonly team: string }
) & { readonly tokenCommand?: readonly string[]; readonly baseUrl?: string };

export interface TrackerAccess {
  readonly env: Env;
  readonly userAgent: string;
  /** *Contract:* the token that the settings' command prints; absent if they name no command. */
  readonly printedToken?: (() => Promise<string | Failure>) | undefined;
}

/** *Contract:* asks for the token at the first request. */
export function openTracker(
  settings: TicketSettings,
  { env, userAgent, printedToken }: TrackerAccess,
): Tickets {
  const { baseUrl } = settings;
  const names = settings.kind === "github" ? ["GITHUB_TOKEN", "GH_TOKEN"] : ["LINEAR_API_KEY"];
  const found = names.map((name) => env[name]).find((value) => value);
  const missing = failure(
    "unauthorized",
    `there is no token for tickets: set ${names.join(" or ")}, or "tokenCommand" beside the kind of tickets`,
    { who: "user" },
  );
  const options: TrackerOptions = {
    ...(baseUrl !== undefined && { baseUrl: baseUrl.replace(/\/+$/, "") }),
    token: async () => (printedToken ? printedToken() : (found ?? missing)),
    userAgent,
  };
  return settings.kind === "github"
    ? githubTickets({ ...options, repository: settings.repository })
    : linearTickets({ ...options, team: settings.team });
}
