/** Scripted model: answers from a list or a function of the request, and records every request. */
import {
  type AssistantPart,
  type Failure,
  type FinishReason,
  failure,
  type Model,
  type ModelInfo,
  type ModelPart,
  type ModelRequest,
  type Models,
  type Usage,
} from "@lathe/protocol";

export interface ScriptedCall {
  readonly tool: string;
  /** An object becomes JSON; a string is sent as it is. */
  readonly input: unknown;
  readonly id?: string;
}

export interface ScriptedAnswer {
  readonly text?: string;
  readonly calls?: readonly ScriptedCall[];
  readonly reason?: FinishReason;
  readonly usage?: Usage;
  /** Ends the attempt with this failure, after showing the text. */
  readonly failure?: Failure;
  /** Only the signal ends it. */
  readonly hangs?: boolean;
}

export type Script =
  | readonly ScriptedAnswer[]
  | ((request: ModelRequest, index: number) => ScriptedAnswer | Promise<ScriptedAnswer>);

export interface ScriptedModel {
  readonly model: Model;
  /** Resolves every id to this model. */
  readonly models: Models;
  /** Every request, in order. */
  readonly requests: readonly ModelRequest[];
}

const info: ModelInfo = {
  id: "scripted/model",
  window: 128_000,
  maxOutput: 8_000,
  price: { input: 1, cached: 0.1, written: 1.25, output: 5 },
};

const usage: Usage = { input: 1000, cached: 0, written: 0, output: 100, reasoning: 0 };

export function createScriptedModel(script: Script, overrides: Partial<ModelInfo> = {}): ScriptedModel {
  const requests: ModelRequest[] = [];
  const model: Model = {
    info: { ...info, ...overrides },
    async *stream(request, signal) {
      const index = requests.push(request) - 1;
      const answer = typeof script === "function" ? await script(request, index) : script[index];
      yield* parts(answer ?? { text: "The script has no further answer." }, index, signal);
    },
  };
  return { model, models: { open: async () => model }, requests };
}

async function* parts(answer: ScriptedAnswer, index: number, signal: AbortSignal): AsyncGenerator<ModelPart> {
  if (answer.text) yield { type: "text-delta", text: answer.text };
  if (answer.hangs) await aborted(signal);
  if (signal.aborted)
    return yield { type: "failed", failure: failure("cancelled", "the attempt was cancelled") };
  if (answer.failure) return yield { type: "failed", failure: answer.failure };
  const reason = answer.reason ?? (answer.calls?.length ? "tool-calls" : "stop");
  yield { type: "finished", reason, parts: answerParts(answer, index), usage: answer.usage ?? usage };
}

function answerParts({ text, calls = [] }: ScriptedAnswer, index: number): AssistantPart[] {
  const said: AssistantPart[] = text ? [{ type: "text", text }] : [];
  const called = calls.map(({ tool, input, id }, i): AssistantPart => {
    const json = typeof input === "string" ? input : JSON.stringify(input);
    return { type: "tool-call", id: id ?? `c${index}.${i}`, tool, input: json };
  });
  return [...said, ...called];
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
