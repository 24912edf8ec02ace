/** Quantiles of samples. */

/** The `q`-quantile of the samples (nearest rank); undefined without samples. */
function quantile(samples: readonly number[], q: number): number | undefined {
  if (samples.length === 0) return undefined;
  const sorted = Float64Array.from(samples).sort();
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(q * sorted.length) - 1))];
}

export interface Spread {
  readonly p50: number;
  readonly p95: number;
}

export function spreadOf(samples: readonly number[]): Spread | undefined {
  const [p50, p95] = [quantile(samples, 0.5), quantile(samples, 0.95)];
  return p50 === undefined || p95 === undefined ? undefined : { p50, p95 };
}
