/**
 * Rate detector: detects at every call whether a failure rate has jumped above its baseline.
 *
 * An e-detector for Bernoulli streams: the mean of several CUSUM statistics, each of the likelihood ratio of
 * one higher rate against the baseline. Each restarts at 1 whenever it falls below, and so stays under a sum
 * of e-processes. As long as the rate is not above the baseline, the mean number of calls to a false alarm is
 * at least the threshold, however often anyone looks (J. Shin, A. Ramdas, A. Rinaldo, "E-detectors: a
 * nonparametric framework for sequential change detection", 2024). The baseline is the upper end of an
 * interval, since the true rate is unknown.
 */

/** On average at most one false alarm in this many calls of a pair. */
export const callsPerFalseAlarm = 10_000;

/** Number of calls that form a baseline. */
export const baselineCalls = 100;

const factors = [2, 3, 5];
/** So few calls cannot tell a lower rate from zero: the first errors of a pair are no jump. */
const leastRate = 0.01;
const maxRate = 0.95;

export interface Detector {
  readonly baseline: number;
  readonly statistics: readonly number[];
  /** The statistic's current stretch: calls and failures since it began. */
  readonly calls: number;
  readonly failures: number;
}

/** `failures` of `calls` before the watch begins. */
export function startDetector(calls: number, failures: number): Detector {
  const baseline = Math.min(0.6, Math.max(leastRate, upperRate(calls, failures)));
  return { baseline, statistics: factors.map(() => 0), calls: 0, failures: 0 };
}

export function takeCall(detector: Detector, isFailed: boolean): Detector {
  const { baseline, statistics } = detector;
  const next = statistics.map((statistic, i) => {
    const rate = Math.min(maxRate, baseline * (factors[i] ?? 1));
    const ratio = isFailed ? rate / baseline : (1 - rate) / (1 - baseline);
    return Math.max(1, statistic) * ratio;
  });
  // All statistics have restarted: earlier failures are not part of a jump.
  const isNew = next.every((statistic) => statistic < 1);
  return {
    baseline,
    statistics: next,
    calls: isNew ? 0 : detector.calls + 1,
    failures: isNew ? 0 : detector.failures + (isFailed ? 1 : 0),
  };
}

export function isAlarmed({ statistics }: Detector): boolean {
  return statistics.reduce((sum, one) => sum + one, 0) / statistics.length >= callsPerFalseAlarm;
}

/** The upper end of Wilson's interval for a rate, one-sided at 90 % (E. B. Wilson, 1927). */
function upperRate(calls: number, failures: number): number {
  if (calls === 0) return 1;
  const z = 1.2816;
  const rate = failures / calls;
  const middle = rate + (z * z) / (2 * calls);
  const width = z * Math.sqrt((rate * (1 - rate)) / calls + (z * z) / (4 * calls * calls));
  return (middle + width) / (1 + (z * z) / calls);
}
