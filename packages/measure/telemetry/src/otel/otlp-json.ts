/**
 * OTLP JSON: spans and metrics in the JSON encoding of the OpenTelemetry protocol 1.x: ids in hexadecimal,
 * 64-bit numbers as text.
 */

import type { Aggregate } from "./aggregates.ts";
import { type Attributes, type AttributeValue, type MetricName, type Span, shapeOf } from "./span.ts";

const scope = (version: string): object => ({ name: "lathe", version });
const resourceOf = (attributes: Attributes): object => ({ attributes: keyValues(attributes) });

export interface Source {
  readonly resource: Attributes;
  readonly version: string;
}

const kinds = { internal: 1, client: 3 } as const;
const errorStatus = 2;

export function tracesBody(spans: readonly Span[], { resource, version }: Source): object {
  const scopeSpans = [{ scope: scope(version), spans: spans.map(spanBody) }];
  return { resourceSpans: [{ resource: resourceOf(resource), scopeSpans }] };
}

function spanBody(span: Span): object {
  const { traceId, spanId, parentId, name, kind, startedAt, endedAt, attributes, content, isError } = span;
  return {
    traceId,
    spanId,
    ...(parentId !== undefined && { parentSpanId: parentId }),
    name,
    kind: kinds[kind],
    startTimeUnixNano: nanoseconds(startedAt),
    endTimeUnixNano: nanoseconds(endedAt),
    attributes: keyValues({ ...attributes, ...content }),
    // `error.type` contains the error; a message might quote a conversation.
    status: isError ? { code: errorStatus } : {},
  };
}

export interface MetricsSpan {
  readonly startedAt: number;
  readonly now: number;
  readonly temporality: "cumulative" | "delta";
}

const temporalities = { delta: 1, cumulative: 2 } as const;

export function metricsBody(
  aggregates: ReadonlyMap<MetricName, readonly Aggregate[]>,
  { startedAt, now, temporality }: MetricsSpan,
  { resource, version }: Source,
): object {
  const time = { startTimeUnixNano: nanoseconds(startedAt), timeUnixNano: nanoseconds(now) };
  const aggregationTemporality = temporalities[temporality];
  const metrics = [...aggregates].map(([name, all]) => {
    const { unit, about, bounds } = shapeOf(name);
    const points = all.map((one) => ({
      attributes: keyValues(one.attributes),
      ...time,
      ...pointOf(one, bounds),
    }));
    const data = { dataPoints: points, aggregationTemporality };
    return {
      name,
      description: about,
      unit,
      ...(bounds ? { histogram: data } : { sum: { ...data, isMonotonic: true } }),
    };
  });
  return {
    resourceMetrics: [{ resource: resourceOf(resource), scopeMetrics: [{ scope: scope(version), metrics }] }],
  };
}

function pointOf(
  { sum, count, buckets, min, max }: Aggregate,
  bounds: readonly number[] | undefined,
): object {
  if (!bounds) return { asDouble: sum };
  return { count: String(count), sum, bucketCounts: buckets.map(String), explicitBounds: bounds, min, max };
}

function nanoseconds(ms: number): string {
  return `${BigInt(Math.round(ms * 1000)) * 1000n}`;
}

function keyValues(attributes: Attributes): readonly object[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: anyValue(value) }));
}

function anyValue(value: AttributeValue): object {
  switch (typeof value) {
    case "string":
      return { stringValue: value };
    case "boolean":
      return { boolValue: value };
    case "number":
      return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
    default:
      return { arrayValue: { values: value.map((one) => ({ stringValue: one })) } };
  }
}
