/** Remote issues: alerts as issues on a tracker: what goes there, and requests that say clearly why they did not work. */
import { type Failure, failure } from "@lathe/protocol";

export interface TrackerOptions {
  /** Absent: the tracker's own. */
  readonly baseUrl?: string;
  /** *Contract:* a token that holds now; never in any text. */
  token(): Promise<string | Failure>;
  readonly userAgent: string;
}

const timeoutMs = 20_000;

/** By which an issue is found again, whatever people make of its title. */
export function markerOf(key: string): string {
  return `lathe-alert-${key}`;
}

/** Others read it: names of arguments are what a model wrote, and stay here. */
export function remoteBody(key: string, body: string): string {
  const shapes = body.replace(/arguments `([^`]*)`/g, (_, shape: string) => {
    return `arguments \`${shape.replace(/([{,] ?)[^:{},]+: /g, "$1")}\``;
  });
  return `${shapes}\nKept up to date by Lathe (${markerOf(key)}).\n`;
}

interface Call {
  readonly method: "GET" | "POST" | "PATCH";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: object;
}

export async function requestJson({ method, url, headers, body }: Call): Promise<unknown> {
  const { origin } = new URL(url);
  try {
    const response = await fetch(url, {
      method,
      headers: { ...headers, ...(body && { "content-type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) }),
      // The token goes nowhere else.
      redirect: "error",
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (!response.ok) return refusal(origin, response);
    return (await response.json()) as unknown;
  } catch (cause) {
    const text = `${origin} cannot be reached, or did not answer in time; try again later`;
    return failure("unreachable", text, { who: "provider", cause });
  }
}

async function refusal(origin: string, response: Response): Promise<Failure> {
  const { status } = response;
  await response.body?.cancel();
  const isToken = status === 401 || status === 403;
  const hint = isToken
    ? ": the token does not allow it"
    : status === 404
      ? ": is the name right, and may the token see it?"
      : "";
  const code = isToken ? "unauthorized" : status >= 500 ? "server-error" : "request-rejected";
  return failure(code, `${origin} answered ${status}${hint}`, { who: isToken ? "user" : "provider" });
}
