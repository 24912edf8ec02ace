/**
 * OTel settings: reads OpenTelemetry's standard variables; nothing is sent without `LATHE_TELEMETRY=otlp`.
 */
import type { Env } from "@lathe/system";

export interface OtelSettings {
  readonly traces?: string;
  readonly metrics?: string;
  readonly headers: { readonly traces: Headers; readonly metrics: Headers };
  readonly timeoutMs: number;
  readonly temporality: "cumulative" | "delta";
  readonly withContent: boolean;
  readonly attributes: Readonly<Record<string, string>>;
  /** Settings that may not mean what the user expects, one sentence each. */
  readonly remarks: readonly string[];
}

type Headers = Readonly<Record<string, string>>;

const usualAddress = "http://localhost:4318";
const usualTimeoutMs = 10_000;

export function otelSettings(env: Env): OtelSettings {
  const remarks: string[] = [];
  const traces = addressOf(env, "traces", remarks);
  const metrics = addressOf(env, "metrics", remarks);
  const protocol = env.OTEL_EXPORTER_OTLP_PROTOCOL;
  if (protocol && protocol !== "http/json")
    remarks.push(
      `OpenTelemetry is sent as http/json; OTEL_EXPORTER_OTLP_PROTOCOL=${protocol} is not spoken.`,
    );
  const timeoutMs = Number(env.OTEL_EXPORTER_OTLP_TIMEOUT || usualTimeoutMs);
  const captured = env.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT?.toLowerCase() ?? "";
  const temporality = env.OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE?.toLowerCase();
  return {
    ...(traces !== undefined && { traces }),
    ...(metrics !== undefined && { metrics }),
    headers: { traces: headersOf(env, "TRACES"), metrics: headersOf(env, "METRICS") },
    timeoutMs: timeoutMs > 0 && timeoutMs <= 60_000 ? timeoutMs : usualTimeoutMs,
    temporality: temporality === "delta" || temporality === "lowmemory" ? "delta" : "cumulative",
    withContent: ["true", "span_only", "span_and_event"].includes(captured),
    attributes: {
      ...pairs(env.OTEL_RESOURCE_ATTRIBUTES),
      ...(env.OTEL_SERVICE_NAME && { "service.name": env.OTEL_SERVICE_NAME }),
    },
    remarks,
  };
}

/** Uses the signal's own address unchanged, or the common address with the signal's path appended. */
function addressOf(env: Env, signal: "traces" | "metrics", remarks: string[]): string | undefined {
  const name = signal.toUpperCase();
  if (env[`OTEL_${name}_EXPORTER`] === "none") return undefined;
  const own = env[`OTEL_EXPORTER_OTLP_${name}_ENDPOINT`];
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT || usualAddress;
  const address = own || `${base.replace(/\/+$/, "")}/v1/${signal}`;
  const url = URL.parse(address);
  if (url?.protocol === "http:" || url?.protocol === "https:") return address;
  remarks.push(`OpenTelemetry ${signal} are not sent: their address is no http:// or https:// one.`);
  return undefined;
}

function headersOf(env: Env, signal: string): Headers {
  const own = env[`OTEL_EXPORTER_OTLP_${signal}_HEADERS`];
  return pairs(own ?? env.OTEL_EXPORTER_OTLP_HEADERS);
}

/** As in W3C baggage: `key=value,key=value`, percent-encoded; anything else is skipped. */
function pairs(text = ""): Readonly<Record<string, string>> {
  return Object.fromEntries(
    text.split(",").flatMap((pair): (readonly [string, string])[] => {
      const at = pair.indexOf("=");
      const key = pair.slice(0, at).trim();
      return at > 0 && /^[\w.-]+$/.test(key) ? [[key, decoded(pair.slice(at + 1).trim())]] : [];
    }),
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
