/** Sample drafts: a session's events for tests and measurements, without its `session.created`. */
import type { Draft, FailureCode, Outcome } from "@lathe/protocol";
import { failure } from "@lathe/protocol";

export interface SampleCall {
  readonly tool: string;
  readonly input?: unknown;
  readonly outcome?: Outcome;
  readonly asked?: boolean;
}

/** One answer with these calls, each with its outcome. */
export function answerDrafts(
  id: string,
  calls: readonly SampleCall[],
  more: { readonly model?: string; readonly cost?: number } = {},
): readonly Draft[] {
  const { model = "test/one", cost = 0.01 } = more;
  const parts = calls.map(({ tool, input = {} }, i) => {
    return { type: "tool-call" as const, id: `${id}.${i}`, tool, input: JSON.stringify(input) };
  });
  const usage = { input: 1000, cached: 800, written: 100, output: 50, reasoning: 0 };
  const reason = calls.length > 0 ? ("tool-calls" as const) : ("stop" as const);
  return [
    { type: "step.started", data: { attempt: id, model } },
    {
      type: "step.completed",
      data: { attempt: id, model, reason, parts, usage, cost, firstMs: 200, ms: 1500 },
    },
    ...calls.flatMap(({ outcome = { type: "ok", text: "" }, asked = false }, i): Draft[] => {
      const call = `${id}.${i}`;
      const question = { call, kind: "permission" as const, text: "may it?", options: ["yes", "no"] };
      const questions: Draft[] = [
        { type: "question.asked", data: question },
        { type: "question.answered", data: { call, answer: "yes", by: "me" } },
      ];
      return [...(asked ? questions : []), { type: "tool.completed", data: { call, outcome, ms: 30 } }];
    }),
  ];
}

export function said(text: string): Draft {
  return { type: "message.received", data: { parts: [{ type: "text", text }] } };
}

export function failedOutcome(code: FailureCode, text = "it did not work"): Outcome {
  return { type: "failed", failure: failure(code, text) };
}

export const done: Draft = { type: "turn.ended", data: { end: { type: "done" } } };
