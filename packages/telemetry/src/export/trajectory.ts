/** Trajectory: a session in the Agent Trajectory Interchange Format (ATIF v1.5, harborframework.com/docs/trajectory-format). */
import { type Event, messageText, outcomeText } from "@lathe/protocol";

interface ToolCall {
  readonly tool_call_id: string;
  readonly function_name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface TrajectoryStep {
  readonly step_id: number;
  /** ISO 8601. */
  readonly timestamp: string;
  readonly source: "system" | "user" | "agent";
  readonly message: string;
  readonly model_name?: string;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly ToolCall[];
  readonly observation?: {
    readonly results: readonly { readonly source_call_id: string; readonly content: string }[];
  };
  /** `prompt_tokens` with those that were read from a cache. */
  readonly metrics?: {
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly cached_tokens: number;
    readonly cost_usd?: number;
  };
}

export interface Trajectory {
  readonly schema_version: "ATIF-v1.5";
  readonly session_id: string;
  readonly agent: { readonly name: "lathe"; readonly version: string; readonly model_name?: string };
  readonly steps: readonly TrajectoryStep[];
  readonly final_metrics: {
    readonly total_prompt_tokens: number;
    readonly total_completion_tokens: number;
    readonly total_cached_tokens: number;
    readonly total_cost_usd?: number;
    readonly total_steps: number;
  };
}

/** In the order it happened; what was taken back later is in it too. Undefined without a beginning. */
export function trajectoryOf(events: readonly Event[]): Trajectory | undefined {
  const [first] = events;
  if (first?.type !== "session.created") return undefined;
  const { id, harness, prompt } = first.data;
  const results = new Map<string, string>();
  for (const event of events)
    if (event.type === "tool.completed") results.set(event.data.call, outcomeText(event.data.outcome));
  const steps = events
    .flatMap((event) => stepOf(event, results))
    .map((step, i): TrajectoryStep => ({ step_id: i + 1, ...step }));
  const answered = events.filter((event) => event.type === "step.completed");
  const sum = (part: "input" | "output" | "cached"): number =>
    answered.reduce((total, { data }) => total + (data.usage?.[part] ?? 0), 0);
  const isPriced = answered.every(({ data }) => data.cost !== undefined);
  const model = prompt.model ?? answered[0]?.data.model;
  return {
    schema_version: "ATIF-v1.5",
    session_id: id,
    agent: { name: "lathe", version: harness, ...(model !== undefined && { model_name: model }) },
    steps,
    final_metrics: {
      total_prompt_tokens: sum("input"),
      total_completion_tokens: sum("output"),
      total_cached_tokens: sum("cached"),
      // A sum in which prices are missing is not what it cost.
      ...(isPriced && { total_cost_usd: answered.reduce((total, { data }) => total + (data.cost ?? 0), 0) }),
      total_steps: steps.length,
    },
  };
}

type Unnumbered = Omit<TrajectoryStep, "step_id">;

function stepOf(event: Event, results: ReadonlyMap<string, string>): readonly Unnumbered[] {
  const timestamp = new Date(event.at).toISOString();
  switch (event.type) {
    case "session.created":
      return [{ timestamp, source: "system", message: event.data.prompt.system }];
    case "message.received":
      return [{ timestamp, source: "user", message: messageText(event.data.parts) }];
    case "notice.posted":
      return [{ timestamp, source: "system", message: event.data.text }];
    case "step.completed":
      return [agentStep(event, timestamp, results)];
    default:
      return [];
  }
}

function agentStep(
  { data }: Event<"step.completed">,
  timestamp: string,
  results: ReadonlyMap<string, string>,
): Unnumbered {
  const { model, parts, usage, cost } = data;
  const calls = parts.filter((part) => part.type === "tool-call");
  const reasoning = parts.flatMap((part) => (part.type === "reasoning" && part.text ? [part.text] : []));
  const observed = calls.flatMap(({ id }) => {
    const content = results.get(id);
    return content === undefined ? [] : [{ source_call_id: id, content }];
  });
  return {
    timestamp,
    source: "agent",
    model_name: model,
    message: messageText(parts),
    ...(reasoning.length > 0 && { reasoning_content: reasoning.join("\n") }),
    ...(calls.length > 0 && { tool_calls: calls.map(callOf) }),
    ...(observed.length > 0 && { observation: { results: observed } }),
    ...(usage && {
      metrics: {
        prompt_tokens: usage.input,
        completion_tokens: usage.output,
        cached_tokens: usage.cached,
        ...(cost !== undefined && { cost_usd: cost }),
      },
    }),
  };
}

function callOf({
  id,
  tool,
  input,
}: {
  readonly id: string;
  readonly tool: string;
  readonly input: string;
}): ToolCall {
  return { tool_call_id: id, function_name: tool, arguments: argumentsOf(input) };
}

/** The format wants an object: what a model wrote otherwise stands in one. */
function argumentsOf(input: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(input);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? { ...value }
      : { input: value };
  } catch {
    return { input };
  }
}
