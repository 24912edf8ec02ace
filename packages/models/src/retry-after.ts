/** How long a provider asks us to wait, read from the headers of its answer. */

type Headers = Readonly<Record<string, string | undefined>>;

const resetNames = [
  "x-ratelimit-reset-requests",
  "x-ratelimit-reset-tokens",
  "x-ratelimit-reset",
  "anthropic-ratelimit-requests-reset",
  "anthropic-ratelimit-tokens-reset",
];

/** Milliseconds from `now`; undefined when no header says. */
export function retryAfterMs(headers: Headers, now: number): number | undefined {
  const exact = Number.parseFloat(headers["retry-after-ms"] ?? "");
  if (exact >= 0) return exact;
  const after = momentMs(headers["retry-after"], now);
  if (after !== undefined) return after;
  // A reset is when the whole window is fresh again: the soonest is when anything can pass.
  const resets = resetNames.map((name) => momentMs(headers[name], now)).filter((ms) => ms !== undefined);
  return resets.length > 0 ? Math.min(...resets) : undefined;
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
