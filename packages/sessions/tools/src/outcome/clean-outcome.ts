/** Clean outcome: what a call says, without secrets and of a length that fits a conversation. */
import type { Outcome, PreparedCall, ToolContext } from "@lathe/protocol";
import { boundedOutcome } from "./bounded-outcome.ts";
import { redactedOutcome } from "./redacted-outcome.ts";

export async function cleanOutcome(
  outcome: Outcome,
  context: ToolContext,
  { wholeChars, note }: Pick<PreparedCall, "wholeChars" | "note">,
): Promise<Outcome> {
  // Before it is cut: half a key is not known for one.
  const clean = await redactedOutcome(outcome, context.redact);
  return withNote(await boundedOutcome(clean, context, wholeChars), note);
}

/** Behind what is cut and kept elsewhere: it is about the call, not its output. */
function withNote(outcome: Outcome, note: string | undefined): Outcome {
  if (note === undefined) return outcome;
  if (outcome.type === "ok" || outcome.type === "interrupted")
    return { ...outcome, text: [outcome.text, note].filter(Boolean).join("\n") };
  if (outcome.type !== "failed") return outcome;
  return { ...outcome, failure: { ...outcome.failure, text: `${outcome.failure.text}\n${note}` } };
}
