/** Remote issues: the content of alerts as issues on a tracker, and requests with clear errors. */
import { type Failure, failure } from "@lathe/protocol";

export interface TrackerOptions {
  /** Defaults to the tracker's own address. */
  readonly baseUrl?: string;
  /** *Contract:* a currently valid token; it never appears in any text. */
  token(): Promise<string | Failure>;
  readonly userAgent: string;
}

const timeoutMs = 20_000;

/** Identifies an issue, even if people change its title. */
export function markerOf(key: string): string {
  return `lathe-alert-${key}`;
}

/** Issues are public to others: argument names come from a model, and are removed. */
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
      // The token must not go to another address.
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
