/**
 * Trace session: converts the events of one session to spans and measurements of the GenAI semantic
 * conventions (open-telemetry/semantic-conventions-genai, in development, as of v1.42 of the conventions).
 */
import { createHash } from "node:crypto";
import type { AssistantPart, Event, Outcome, Session, Usage } from "@lathe/protocol";
import { inputContent, outputContent } from "./content.ts";
import type { Attributes, Measurement, Span, SpanContext } from "./span.ts";

export interface Traced {
  readonly spans: readonly Span[];
  readonly measurements: readonly Measurement[];
}

export interface TraceOptions {
  /** Names of known tools: any other name comes from the model and may contain anything. */
  readonly isTool: (name: string) => boolean;
  /** Includes message content. */
  readonly withContent: boolean;
  /** The call that opened a session, if it is known. */
  readonly parentOf: (session: string) => SpanContext | undefined;
  /** Called with the call that opens a session. */
  readonly opens: (session: string, by: SpanContext) => void;
}

interface OpenTurn extends SpanContext {
  readonly startedAt: number;
  readonly used: { input: number; output: number; cost: number; isPriced: boolean };
}

interface OpenAttempt {
  readonly id: string;
  readonly model: string;
  readonly startedAt: number;
  readonly isSummary: boolean;
  readonly input?: Readonly<Record<string, string>>;
}

const nothing: Traced = { spans: [], measurements: [] };

/** Follows one session; each event returns the spans and measurements that it completes. */
export class SessionTrace {
  readonly #options: TraceOptions;
  #turn: OpenTurn | undefined;
  #attempt: OpenAttempt | undefined;
  #calls = new Map<string, string>();
  #inputs = new Map<string, string>();

  constructor(options: TraceOptions) {
    this.#options = options;
  }

  take(event: Event, session: Session): Traced {
    switch (event.type) {
      case "message.received":
        // A summary between two turns has its own trace.
        if (session.turn?.startedAt === event.at) this.#turn = this.#begin(event, session);
        return nothing;
      case "step.started":
        this.#attempt = this.#startedAttempt(event, session);
        return nothing;
      case "step.completed":
        this.#remember(event.data.parts);
        return this.#attempted(event, session, event.data);
      case "step.failed":
        return this.#attempted(event, session, { ...event.data, error: event.data.failure.code });
      case "context.compacted":
        return this.#summarized(event, session);
      case "tool.started":
        if (event.data.child !== undefined && this.#turn)
          this.#options.opens(event.data.child, this.#callContext(this.#turn, session, event.data.call));
        return nothing;
      case "tool.completed":
        return this.#called(event, session);
      case "turn.ended":
        return this.#ended(event, session);
      default:
        return nothing;
    }
  }

  /** The beginning of a resumed session was not observed. */
  #current(event: Event, session: Session): OpenTurn {
    this.#turn ??= this.#begin(event, session);
    return this.#turn;
  }

  #begin({ seq, at }: Event, session: Session): OpenTurn {
    const parent = this.#options.parentOf(session.id);
    const key = `${session.id}\n${seq}`;
    const traceId = parent?.traceId ?? digits(`trace\n${key}`, 32);
    return {
      traceId,
      spanId: digits(`turn\n${key}`, 16),
      startedAt: at,
      used: { input: 0, output: 0, cost: 0, isPriced: false },
    };
  }

  #startedAttempt({ at, data }: Event<"step.started">, session: Session): OpenAttempt {
    const { attempt: id, model, purpose } = data;
    const open = { id, model, startedAt: at, isSummary: purpose === "summary" };
    return this.#options.withContent && !open.isSummary ? { ...open, input: inputContent(session) } : open;
  }

  #remember(parts: readonly AssistantPart[]): void {
    this.#calls.clear();
    this.#inputs.clear();
    for (const part of parts) {
      if (part.type !== "tool-call") continue;
      this.#calls.set(part.id, this.#options.isTool(part.tool) ? part.tool : "_OTHER");
      if (this.#options.withContent) this.#inputs.set(part.id, part.input);
    }
  }

  #summarized(event: Event<"context.compacted">, session: Session): Traced {
    const { summarized } = event.data;
    if (!summarized) return nothing;
    const { failure, ...attempt } = summarized;
    return this.#attempted(event, session, { ...attempt, ...(failure && { error: failure.code }) });
  }

  #attempted(event: Event, session: Session, ended: EndedAttempt): Traced {
    const { at } = event;
    const open = this.#attempt;
    this.#attempt = undefined;
    const turn = this.#current(event, session);
    const { model, ms, firstMs, usage, cost, error, reason } = ended;
    const common = { "gen_ai.operation.name": "chat", ...modelNames(model) };
    const failed = error === undefined ? {} : { "error.type": error };
    if (usage) {
      turn.used.input += usage.input;
      turn.used.output += usage.output;
    }
    if (cost !== undefined) {
      turn.used.cost += cost;
      turn.used.isPriced = true;
    }
    const output = ended.parts && this.#options.withContent ? outputContent(ended.parts, reason) : undefined;
    const content = { ...open?.input, ...output };
    const span: Span = {
      traceId: turn.traceId,
      parentId: turn.spanId,
      spanId: digits(`step\n${session.id}\n${event.seq}`, 16),
      name: `chat ${modelNames(model)["gen_ai.request.model"]}`,
      kind: "client",
      startedAt: at - ms,
      endedAt: at,
      attributes: {
        ...common,
        ...failed,
        "gen_ai.conversation.id": session.id,
        "gen_ai.request.stream": true,
        ...(open?.isSummary && { "lathe.step.purpose": "summary" }),
        ...(reason !== undefined && { "gen_ai.response.finish_reasons": [finishReason(reason)] }),
        ...(firstMs !== undefined && { "gen_ai.response.time_to_first_chunk": firstMs / 1000 }),
        ...usageAttributes(usage),
        ...(cost !== undefined && { "lathe.cost": cost }),
      },
      ...(Object.keys(content).length > 0 && { content }),
      isError: error !== undefined,
    };
    return { spans: [span], measurements: stepMeasurements(common, failed, ended) };
  }

  #callContext({ traceId }: OpenTurn, { id }: Session, call: string): SpanContext {
    return { traceId, spanId: digits(`call\n${id}\n${call}`, 16) };
  }

  #called(event: Event<"tool.completed">, session: Session): Traced {
    const { at, data } = event;
    const called = this.#calls.get(data.call);
    if (called === undefined) return nothing;
    const turn = this.#current(event, session);
    const error = errorOf(data.outcome);
    // The server may have no tool of that name.
    const name = error === "unknown-tool" ? "_OTHER" : called;
    const tool = {
      "gen_ai.tool.name": name,
      "gen_ai.tool.type": "function",
      ...(error && { "error.type": error }),
    };
    const input = this.#inputs.get(data.call);
    const span: Span = {
      ...this.#callContext(turn, session, data.call),
      parentId: turn.spanId,
      name: `execute_tool ${name}`,
      kind: "internal",
      startedAt: at - data.ms,
      endedAt: at,
      attributes: {
        "gen_ai.operation.name": "execute_tool",
        ...tool,
        "gen_ai.conversation.id": session.id,
        "lathe.tool.outcome": data.outcome.type,
      },
      ...(input !== undefined && {
        content: {
          "gen_ai.tool.call.arguments": input,
          "gen_ai.tool.call.result": JSON.stringify("text" in data.outcome ? data.outcome.text : ""),
        },
      }),
      isError: error !== undefined,
    };
    const agent = { "gen_ai.agent.name": agentName(session) };
    const value = data.ms / 1000;
    return {
      spans: [span],
      measurements: [{ metric: "gen_ai.execute_tool.duration", value, attributes: { ...tool, ...agent } }],
    };
  }

  #ended({ at, data: { end } }: Event<"turn.ended">, session: Session): Traced {
    const turn = this.#turn;
    this.#turn = undefined;
    if (!turn) return nothing;
    const parent = this.#options.parentOf(session.id);
    const { input, output, cost, isPriced } = turn.used;
    const isError = end.type !== "done";
    const failed = isError && { "error.type": end.type === "failed" ? end.failure.code : end.type };
    const agent = { "gen_ai.agent.name": agentName(session), ...failed };
    const { traceId, spanId, startedAt } = turn;
    const span: Span = {
      traceId,
      spanId,
      ...(parent && { parentId: parent.spanId }),
      name: `invoke_agent ${agentName(session)}`,
      kind: "internal",
      startedAt,
      endedAt: at,
      attributes: {
        "gen_ai.operation.name": "invoke_agent",
        ...modelNames(session.model),
        ...agent,
        "gen_ai.conversation.id": session.id,
        "lathe.turn.end": end.type,
        "gen_ai.usage.input_tokens": input,
        "gen_ai.usage.output_tokens": output,
        ...(isPriced && { "lathe.cost": cost }),
        ...armsOf(session),
      },
      isError,
    };
    const value = (at - startedAt) / 1000;
    return {
      spans: [span],
      measurements: [{ metric: "gen_ai.invoke_agent.duration", value, attributes: agent }],
    };
  }
}

interface EndedAttempt {
  readonly model: string;
  readonly ms: number;
  readonly firstMs?: number;
  readonly usage?: Usage;
  readonly cost?: number;
  readonly error?: string;
  readonly reason?: string;
  readonly parts?: readonly AssistantPart[];
}

function stepMeasurements(
  common: Attributes,
  failed: Attributes,
  { ms, firstMs, usage, cost }: EndedAttempt,
): readonly Measurement[] {
  const tokens = (type: "input" | "output", value: number): Measurement => {
    const attributes = { ...common, "gen_ai.token.type": type };
    return { metric: "gen_ai.client.token.usage", value, attributes };
  };
  return [
    { metric: "gen_ai.client.operation.duration", value: ms / 1000, attributes: { ...common, ...failed } },
    ...(usage ? [tokens("input", usage.input), tokens("output", usage.output)] : []),
    ...(firstMs === undefined
      ? []
      : [
          {
            metric: "gen_ai.client.operation.time_to_first_chunk" as const,
            value: firstMs / 1000,
            attributes: common,
          },
        ]),
    ...(cost === undefined ? [] : [{ metric: "lathe.cost" as const, value: cost, attributes: common }]),
  ];
}

function usageAttributes(usage: Usage | undefined): Attributes {
  if (!usage) return {};
  return {
    "gen_ai.usage.input_tokens": usage.input,
    "gen_ai.usage.output_tokens": usage.output,
    "gen_ai.usage.cache_read.input_tokens": usage.cached,
    "gen_ai.usage.cache_creation.input_tokens": usage.written,
    "gen_ai.usage.reasoning.output_tokens": usage.reasoning,
  };
}

function errorOf(outcome: Outcome): string | undefined {
  return outcome.type === "failed" || outcome.type === "interrupted" ? outcome.failure.code : undefined;
}

function agentName({ agent }: Session): string {
  return agent ?? "lathe";
}

function armsOf({ settings, exposed = [] }: Session): Attributes {
  const arms = (settings.experiments ?? []).filter(({ experiment }) => exposed.includes(experiment));
  return Object.fromEntries(arms.map(({ experiment, arm }) => [`lathe.experiment.${experiment}`, arm]));
}

/** The conventions' names of known providers. */
const providerNames: Readonly<Record<string, string>> = {
  google: "gcp.gemini",
  vertex: "gcp.vertex_ai",
  bedrock: "aws.bedrock",
  azure: "azure.ai.openai",
  mistral: "mistral_ai",
  moonshot: "moonshot_ai",
  xai: "x_ai",
};

function modelNames(id: string): {
  readonly [Name in "gen_ai.provider.name" | "gen_ai.request.model"]: string;
} {
  const at = id.indexOf("/");
  const [provider, model] = at < 0 ? ["_OTHER", id] : [id.slice(0, at), id.slice(at + 1)];
  return { "gen_ai.provider.name": providerNames[provider] ?? provider, "gen_ai.request.model": model };
}

function finishReason(reason: string): string {
  if (reason === "tool-calls") return "tool_call";
  return reason === "refused" ? "content_filter" : reason;
}

function digits(text: string, length: number): string {
  return createHash("sha256").update(text).digest("hex").slice(0, length);
}
