/**
 * OTLP server: receives traces and metrics on the loopback and checks each body against the published schema.
 */
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { checkOtlp } from "./check-otlp.ts";

export interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly status: { readonly code?: number };
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
}

export interface OtlpRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body's faults, one sentence each. */
  readonly problems: readonly string[];
}

export interface OtlpServer {
  readonly url: string;
  readonly requests: readonly OtlpRequest[];
  readonly spans: () => readonly OtlpSpan[];
  /** The last data of each metric, by name. */
  readonly metrics: () => Readonly<Record<string, readonly OtlpPoint[]>>;
  close(): Promise<void>;
}

export interface OtlpPoint {
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly count?: string;
  readonly sum?: number;
  readonly asDouble?: number;
  readonly bucketCounts?: readonly string[];
  readonly explicitBounds?: readonly number[];
}

/** `answer` returns the next response's status; `hang` sends none. */
export async function startOtlpServer(
  answer: (index: number) => number | "hang" = () => 200,
): Promise<OtlpServer> {
  const requests: OtlpRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString();
      const path = request.url ?? "";
      requests.push({ path, headers: request.headers, text, problems: problemsOf(path, text) });
      const status = answer(requests.length - 1);
      if (status !== "hang") response.writeHead(status, { "content-type": "application/json" }).end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    spans: () => requests.filter(({ path }) => path.endsWith("/traces")).flatMap(({ text }) => spansOf(text)),
    metrics: () => metricsOf(requests.findLast(({ path }) => path.endsWith("/metrics"))?.text ?? "{}"),
    close: () => closed(server),
  };
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

function problemsOf(path: string, text: string): readonly string[] {
  const message = path.endsWith("/traces") ? "ExportTraceServiceRequest" : "ExportMetricsServiceRequest";
  try {
    return checkOtlp(JSON.parse(text), message);
  } catch (cause) {
    return [`not JSON: ${String(cause)}`];
  }
}

type Written = { readonly key: string; readonly value: Readonly<Record<string, unknown>> };
interface Body {
  readonly resourceSpans?: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly WrittenSpan[] }[];
  }[];
  readonly resourceMetrics?: readonly {
    readonly scopeMetrics: readonly { readonly metrics: readonly WrittenMetric[] }[];
  }[];
}
type WrittenSpan = Omit<OtlpSpan, "attributes"> & { readonly attributes: readonly Written[] };
type WrittenPoint = Omit<OtlpPoint, "attributes"> & { readonly attributes: readonly Written[] };
interface WrittenMetric {
  readonly name: string;
  readonly histogram?: { readonly dataPoints: readonly WrittenPoint[] };
  readonly sum?: { readonly dataPoints: readonly WrittenPoint[] };
}

function spansOf(text: string): readonly OtlpSpan[] {
  const { resourceSpans = [] } = JSON.parse(text) as Body;
  return resourceSpans
    .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
    .map((span) => ({ ...span, attributes: plain(span.attributes) }));
}

function metricsOf(text: string): Readonly<Record<string, readonly OtlpPoint[]>> {
  const { resourceMetrics = [] } = JSON.parse(text) as Body;
  const all = resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics));
  return Object.fromEntries(
    all.map(({ name, histogram, sum }) => {
      const points = (histogram ?? sum)?.dataPoints ?? [];
      return [name, points.map((point) => ({ ...point, attributes: plain(point.attributes) }))];
    }),
  );
}

function plain(attributes: readonly Written[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
