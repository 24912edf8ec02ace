/** Reads from the headers of a provider's response how long to wait. */

type Headers = Readonly<Record<string, string | undefined>>;

/** Headers for the reset time of a rate window, and the amount left in it. */
const windows: readonly (readonly [reset: string, remaining: string])[] = [
  ["x-ratelimit-reset-requests", "x-ratelimit-remaining-requests"],
  ["x-ratelimit-reset-tokens", "x-ratelimit-remaining-tokens"],
  ["x-ratelimit-reset", "x-ratelimit-remaining"],
  ...["requests", "tokens", "input-tokens", "output-tokens"].map(
    (what) => [`anthropic-ratelimit-${what}-reset`, `anthropic-ratelimit-${what}-remaining`] as const,
  ),
];

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
}

/** Milliseconds from `now`; undefined if no header gives a time. */
export function retryAfterMs({ status, headers }: Answered, now: number): number | undefined {
  const exact = Number.parseFloat(headers["retry-after-ms"] ?? "");
  if (exact >= 0) return exact;
  const after = momentMs(headers["retry-after"], now);
  if (after !== undefined) return after;
  // Every response carries the windows; they are the reason to wait only after a rate error.
  return status === 429 ? freshMs(headers, now) : undefined;
}

/** Waits for all windows that are used up; for all windows if none reports that. */
function freshMs(headers: Headers, now: number): number | undefined {
  const resets = windows.flatMap(([reset, remaining]) => {
    const ms = momentMs(headers[reset], now);
    return ms === undefined ? [] : [{ ms, isUsedUp: Number.parseFloat(headers[remaining] ?? "") <= 0 }];
  });
  const usedUp = resets.filter((reset) => reset.isUsedUp);
  const due = usedUp.length > 0 ? usedUp : resets;
  return due.length > 0 ? Math.max(...due.map(({ ms }) => ms)) : undefined;
}

/** Reads `2`, `1.5`, `6m0s`, `90ms`, an epoch in seconds or milliseconds, an ISO or an HTTP date. */
function momentMs(text: string | undefined, now: number): number | undefined {
  if (!text) return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return fromNumber(Number(text), now);
  const spans = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/g)];
  if (spans.length > 0 && spans.map((span) => span[0]).join("") === text) {
    return spans.reduce((sum, [, amount, unit]) => sum + Number(amount) * (units[unit ?? "s"] ?? 0), 0);
  }
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

function fromNumber(value: number, now: number): number {
  if (value > 1e12) return Math.max(0, value - now);
  return value > 1e9 ? Math.max(0, value * 1000 - now) : value * 1000;
}
