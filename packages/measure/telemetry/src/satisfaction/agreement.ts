/**
 * Agreement: how well a reader of messages agrees with their labels, and the trouble rate corrected for the
 * reader's errors.
 */

import { seededRandom } from "@lathe/protocol";
import { isTrouble, type Reaction, reactions } from "../events/read-reaction.ts";

/** A reader's verdict and the label. */
export interface Reading {
  readonly read: Reaction;
  readonly label: Reaction;
}

export interface Estimate {
  readonly value: number;
  /** A 95 % interval. */
  readonly low: number;
  readonly high: number;
}

/** Samples of the bootstrap (B. Efron, 1979), from which percentiles are computed. */
const samples = 1_000;
const kinds = reactions.length;

/** Counts of each pair of verdict and label. */
type Counts = Float64Array;

/** Chance-corrected agreement (J. Cohen, "A coefficient of agreement for nominal scales", 1960). */
export function kappa(readings: readonly Reading[]): Estimate {
  const cells = readings.map(cellOf);
  const value = kappaOf(countsOf(cells));
  const random = seededRandom(31);
  return { value, ...percentiles(Array.from({ length: samples }, () => kappaOf(drawn(cells, random)))) };
}

function cellOf({ read, label }: Reading): number {
  return reactions.indexOf(read) * kinds + reactions.indexOf(label);
}

function countsOf(cells: readonly number[]): Counts {
  const counts = new Float64Array(kinds * kinds);
  for (const cell of cells) counts[cell] = (counts[cell] ?? 0) + 1;
  return counts;
}

/** Resamples as many cells, with replacement. */
function drawn(cells: readonly number[], random: () => number): Counts {
  const counts = new Float64Array(kinds * kinds);
  for (let i = 0; i < cells.length; i++) {
    const cell = cells[Math.floor(random() * cells.length)] ?? 0;
    counts[cell] = (counts[cell] ?? 0) + 1;
  }
  return counts;
}

function sumWhere(counts: Counts, is: (read: number, label: number) => boolean): number {
  return counts.reduce((sum, n, cell) => sum + (is(Math.floor(cell / kinds), cell % kinds) ? n : 0), 0);
}

function kappaOf(counts: Counts): number {
  const n = sumWhere(counts, () => true);
  const same = sumWhere(counts, (read, label) => read === label) / n;
  const byChance = reactions.reduce((sum, _, kind) => {
    const share = sumWhere(counts, (read) => read === kind) / n;
    return sum + (share * sumWhere(counts, (_read, label) => label === kind)) / n;
  }, 0);
  return byChance >= 1 ? 1 : (same - byChance) / (1 - byChance);
}

/**
 * The trouble rate among the messages, corrected for the reader's errors on labelled messages (W. J. Rogan,
 * B. Gladen, "Estimating prevalence from the results of a screening test", 1978). The interval is a bootstrap
 * over both samples. The read messages get half a case more on each side: otherwise messages that all read
 * alike would leave no uncertainty.
 */
export function troubleRate(read: readonly Reaction[], labelled: readonly Reading[]): Estimate | undefined {
  const n = read.length;
  const troubles = read.filter(isTrouble).length;
  const cells = labelled.map(cellOf);
  const seen = (troubles + 0.5) / (n + 1);
  const value = correctedRate(seen, countsOf(cells));
  if (n === 0 || value === undefined) return undefined;
  const random = seededRandom(37);
  const rates = Array.from({ length: samples }, () => {
    let again = 0;
    for (let i = 0; i <= n; i++) if (random() < seen) again += 1;
    return correctedRate(again / (n + 1), drawn(cells, random));
  });
  return { value, ...percentiles(rates.filter((one) => one !== undefined)) };
}

const troubleKinds: readonly boolean[] = reactions.map(isTrouble);

/**
 * Undefined for a reader that cannot distinguish. Adds half a case on both sides of each share: no errors, or
 * no trouble, in a few messages does not make them impossible.
 */
function correctedRate(seen: number, counts: Counts): number | undefined {
  const readAs = (label: boolean): number => {
    const all = sumWhere(counts, (_, kind) => troubleKinds[kind] === label);
    const found = sumWhere(
      counts,
      (read, kind) => troubleKinds[kind] === label && troubleKinds[read] === true,
    );
    return (found + 0.5) / (all + 1);
  };
  const [found, mistaken] = [readAs(true), readAs(false)];
  if (found - mistaken < 0.05) return undefined;
  return Math.min(1, Math.max(0, (seen - mistaken) / (found - mistaken)));
}

function percentiles(values: readonly number[]): { readonly low: number; readonly high: number } {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (q: number): number => sorted[Math.round(q * (sorted.length - 1))] ?? 0;
  return { low: at(0.025), high: at(0.975) };
}
