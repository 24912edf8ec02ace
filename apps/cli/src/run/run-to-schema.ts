/** Runs a session whose last answer must match a schema, and lets the model correct it a few times. */
import type { Conversation } from "@lathe/client";
import { type Failure, failure, isFailure, messageText, type Session } from "@lathe/protocol";
import type { Words } from "@lathe/sessions";
import type { OutputSchema } from "./output-schema.ts";

/** The most answers after the first one. */
const maxRetries = 3;

export interface SchemaRun {
  readonly ended: Session | Failure;
  /** Present if an answer matched. */
  readonly output?: { readonly value: unknown };
}

export async function runToSchema(
  conversation: Conversation,
  words: Words | undefined,
  schema: OutputSchema,
): Promise<SchemaRun> {
  const before = conversation.session?.session().step ?? 0;
  let ended = await conversation.run(words);
  for (let retries = 0; ; retries++) {
    if (isFailure(ended) || ended.lastEnd?.type !== "done") return { ended };
    const answer = schema.read(lastAnswer(ended));
    if (answer.type === "value") return { ended, output: { value: answer.value } };
    const wrong = answer.problems.map((problem) => `- ${problem}`).join("\n");
    if (retries === maxRetries) return { ended: refused(answer.problems) };
    // Each retry is a turn with a step limit of its own: stop once their sum reaches the limit.
    const { steps = Number.POSITIVE_INFINITY } = ended.limits;
    if (ended.step - before >= steps) return { ended: outOfSteps(ended, answer.problems) };
    ended = await conversation.run({
      text: `Your answer does not match the schema:\n${wrong}\n\n${schema.request}`,
    });
  }
}

function refused(problems: readonly string[]): Failure {
  const text = `the answer does not match the schema, also after ${maxRetries} more tries: ${problems.join("; ")}`;
  return failure("request-rejected", text, { who: "model" });
}

function outOfSteps(ended: Session, problems: readonly string[]): Session {
  const { steps } = ended.limits;
  const text = `the limit of ${steps} ${steps === 1 ? "step" : "steps"} is reached and the answer does not match the schema: ${problems.join("; ")}; raise it with --max-steps`;
  return { ...ended, lastEnd: { type: "limit", limit: "steps", text } };
}

function lastAnswer({ messages }: Session): string {
  const last = messages.findLast(({ role }) => role === "assistant");
  return last ? messageText(last.parts) : "";
}
