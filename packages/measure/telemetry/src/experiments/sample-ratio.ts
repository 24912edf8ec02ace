/**
 * Sample ratio: whether the arms get their intended shares of sessions, however often it is checked.
 *
 * The sequential multinomial test of M. Lindon and A. Malek, "Anytime-valid inference for multinomial count
 * data" (NeurIPS 2022): a mixture over the possible actual shares, against the intended ones. The shares may
 * change from session to session; the prior is centred on them and weighs as much as this many sessions.
 */

const priorSessions = 50;
/** Below this, something is wrong with the assignment of sessions. */
export const ratioAlpha = 0.001;

/** A session: its arm, and the intended share of each arm at that time. */
export interface Drawn {
  readonly arm: string;
  readonly shares: Readonly<Record<string, number>>;
}

export interface SampleRatio {
  /** The p-value of a mismatch; it never rises again. */
  readonly p: number;
  readonly isBroken: boolean;
}

export function sampleRatio(drawn: readonly Drawn[]): SampleRatio {
  const counts = new Map<string, number>();
  let [evidence, most] = [0, 0];
  for (const [n, { arm, shares }] of drawn.entries()) {
    const share = shares[arm] ?? 0;
    if (share <= 0) return { p: 0, isBroken: true };
    const seen = counts.get(arm) ?? 0;
    evidence += Math.log((priorSessions * share + seen) / (priorSessions + n) / share);
    most = Math.max(most, evidence);
    counts.set(arm, seen + 1);
  }
  const p = Math.exp(-most);
  return { p, isBroken: p <= ratioAlpha };
}
