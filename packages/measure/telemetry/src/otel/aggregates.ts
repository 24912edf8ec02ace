/** Aggregates: sums of measurements, one per metric and set of attributes. */
import { type Attributes, type Measurement, type MetricName, shapeOf } from "./span.ts";

export interface Aggregate {
  readonly attributes: Attributes;
  sum: number;
  count: number;
  min: number;
  max: number;
  /** One more bucket than there are bounds; empty for a sum. */
  readonly buckets: number[];
}

/** Maximum attribute sets of one metric: more would come from invented names. */
const maxSets = 500;

export function addMeasurement(
  aggregates: Map<MetricName, Map<string, Aggregate>>,
  { metric, value, attributes }: Measurement,
): void {
  if (!Number.isFinite(value) || value < 0) return;
  const sets = aggregates.get(metric) ?? new Map<string, Aggregate>();
  aggregates.set(metric, sets);
  const key = JSON.stringify(attributes);
  const bounds = shapeOf(metric).bounds;
  const known = sets.get(key) ?? (sets.size < maxSets ? emptyAggregate(attributes, bounds) : undefined);
  if (!known) return;
  sets.set(key, known);
  known.sum += value;
  known.count += 1;
  known.min = Math.min(known.min, value);
  known.max = Math.max(known.max, value);
  if (!bounds) return;
  const found = bounds.findIndex((bound) => value <= bound);
  const at = found < 0 ? bounds.length : found;
  known.buckets[at] = (known.buckets[at] ?? 0) + 1;
}

function emptyAggregate(attributes: Attributes, bounds: readonly number[] | undefined): Aggregate {
  const buckets = bounds ? Array.from({ length: bounds.length + 1 }, () => 0) : [];
  return {
    attributes,
    sum: 0,
    count: 0,
    min: Number.POSITIVE_INFINITY,
    max: Number.NEGATIVE_INFINITY,
    buckets,
  };
}
