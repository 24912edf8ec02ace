/**
 * Sample ratio: whether the arms got as many sessions as they should, however often it is checked.
 *
 * The sequential multinomial test of M. Lindon and A. Malek, "Anytime-valid inference for multinomial count data"
 * (NeurIPS 2022): a mixture over the shares that they might have instead, against those that they should have. The
 * shares may change from session to session; the prior is centred on them and as heavy as so many sessions.
 */

const priorSessions = 50;
/** Below it something is wrong with how sessions get into the experiment. */
export const ratioAlpha = 0.001;

/** A session: the arm it got, and the share that each arm should have had then. */
export interface Drawn {
  readonly arm: string;
  readonly shares: Readonly<Record<string, number>>;
}

export interface SampleRatio {
  /** Of a mismatch; it never grows back. */
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
