/**
 * Contrasts: one value per session, whose mean is the difference between two arms.
 *
 * The sequential form of augmented inverse propensity weighting (J. M. Robins, A. Rotnitzky, L. P. Zhao,
 * 1994, as used by Waudby-Smith and others, 2024): the arm was drawn with a known probability, and each arm's
 * expected value is estimated from earlier sessions, so the values are a martingale around the true
 * difference.
 */

/** A session of one of the two arms. */
export interface Unit {
  readonly isTreated: boolean;
  /** The probability with which it got the treatment rather than the control. */
  readonly share: number;
  readonly value: number;
}

export interface Contrasts {
  readonly values: readonly number[];
  /** Maximum distance from 0, if the units' values are between 0 and 1. */
  readonly bound: number;
}

/** In the order of the sessions. */
export function contrastsOf(units: readonly Unit[]): Contrasts {
  const arms = { treated: { sum: 0, n: 0 }, control: { sum: 0, n: 0 } };
  const values: number[] = [];
  let least = 0.5;
  for (const { isTreated, share, value } of units) {
    const [treated, control] = [expected(arms.treated), expected(arms.control)];
    const surprise = isTreated ? (value - treated) / share : -(value - control) / (1 - share);
    values.push(treated - control + surprise);
    least = Math.min(least, share, 1 - share);
    const arm = isTreated ? arms.treated : arms.control;
    arm.sum += value;
    arm.n += 1;
  }
  return { values, bound: 1 / least };
}

function expected({ sum, n }: { readonly sum: number; readonly n: number }): number {
  return n === 0 ? 0 : sum / n;
}
