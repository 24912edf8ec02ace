/** Span: a piece of work with a beginning and an end, as in OpenTelemetry, before it is encoded. */

export type AttributeValue = string | number | boolean | readonly string[];
export type Attributes = Readonly<Record<string, AttributeValue>>;

export interface SpanContext {
  /** 32 and 16 hexadecimal digits. */
  readonly traceId: string;
  readonly spanId: string;
}

export interface Span extends SpanContext {
  readonly parentId?: string;
  readonly name: string;
  readonly kind: "internal" | "client";
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly attributes: Attributes;
  /** Messages as JSON; only if configured. */
  readonly content?: Readonly<Record<string, string>>;
  readonly isError: boolean;
}

/** One value recorded by a metric. */
export interface Measurement {
  readonly metric: MetricName;
  readonly value: number;
  readonly attributes: Attributes;
}

export type MetricName =
  | "gen_ai.client.token.usage"
  | "gen_ai.client.operation.duration"
  | "gen_ai.client.operation.time_to_first_chunk"
  | "gen_ai.invoke_agent.duration"
  | "gen_ai.execute_tool.duration"
  | "lathe.cost";

interface MetricShape {
  readonly unit: string;
  readonly about: string;
  /** Upper ends of a histogram's buckets; absent for a sum. */
  readonly bounds?: readonly number[];
}

const doubling = (first: number, times: number): readonly number[] =>
  Array.from({ length: times }, (_, i) => Math.round(first * 2 ** i * 1e6) / 1e6);
const operation = doubling(0.01, 14);

/**
 * Names, units and bounds of the GenAI conventions; `lathe.cost` is Lathe's own, they have none for money.
 */
const metrics: Readonly<Record<MetricName, MetricShape>> = {
  "gen_ai.client.token.usage": {
    unit: "{token}",
    about: "Number of input and output tokens used.",
    bounds: Array.from({ length: 14 }, (_, i) => 4 ** i),
  },
  "gen_ai.client.operation.duration": { unit: "s", about: "GenAI operation duration.", bounds: operation },
  "gen_ai.client.operation.time_to_first_chunk": {
    unit: "s",
    about: "Time to receive the first chunk.",
    bounds: doubling(0.001, 14),
  },
  "gen_ai.invoke_agent.duration": {
    unit: "s",
    about: "Duration of an agent invocation.",
    bounds: doubling(0.1, 13),
  },
  "gen_ai.execute_tool.duration": { unit: "s", about: "Duration of a tool execution.", bounds: operation },
  "lathe.cost": { unit: "USD", about: "Cost of attempts whose price is known." },
};

export function shapeOf(metric: MetricName): MetricShape {
  return metrics[metric];
}
