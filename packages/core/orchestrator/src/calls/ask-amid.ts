/** Ask amid: lets a running call ask a person through its session. */
import type { CallQuestion, Draft, ToolContext } from "@lathe/protocol";
import type { PerformContext } from "../ports.ts";

interface Waiting {
  readonly draft: Draft;
  logged(): void;
}

export interface Questions {
  /** The function a call asks with; its questions come one after the other. */
  askOf(call: string, signal: AbortSignal): NonNullable<ToolContext["ask"]>;
  /** *Contract:* resolves with the next question to log; the caller calls its `logged` after logging it. */
  next(): Promise<Waiting>;
}

export function openQuestions({ session, woken }: Pick<PerformContext, "session" | "woken">): Questions {
  const queue: Waiting[] = [];
  let filled = Promise.withResolvers<void>();
  const put = (draft: Draft): Promise<void> =>
    new Promise((logged) => {
      queue.push({ draft, logged });
      filled.resolve();
    });
  const answered = async (call: string, signal: AbortSignal): Promise<string | undefined> => {
    while (!signal.aborted) {
      const { calls, head } = session();
      const state = calls.find((one) => one.call.id === call);
      // The answer accepts only a part, but this call has no parts.
      if (!state?.asked) return state?.answer?.part ? "deny" : state?.answer?.text;
      await woken(head);
    }
    return undefined;
  };
  return {
    askOf: (call, signal) => {
      let last: Promise<unknown> = Promise.resolve();
      return (question) => {
        const asked = last.then(async () => {
          if (signal.aborted) return undefined;
          await put(draftOf(call, question));
          return answered(call, signal);
        });
        last = asked;
        return asked;
      };
    },
    async next() {
      for (;;) {
        const first = queue.shift();
        if (first) return first;
        filled = Promise.withResolvers();
        await filled.promise;
      }
    },
  };
}

function draftOf(call: string, { kind, text, options, rules }: CallQuestion): Draft {
  return { type: "question.asked", data: { call, kind, text, options, ...(rules && { rules }) } };
}
