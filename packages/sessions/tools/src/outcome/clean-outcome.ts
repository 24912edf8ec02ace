/** Clean outcome: the text of a call, without secrets and short enough for a conversation. */
import type { Outcome, PreparedCall, ToolContext } from "@lathe/protocol";
import { boundedOutcome } from "./bounded-outcome.ts";
import { redactedOutcome } from "./redacted-outcome.ts";

export async function cleanOutcome(
  outcome: Outcome,
  context: ToolContext,
  { wholeChars, note }: Pick<PreparedCall, "wholeChars" | "note">,
): Promise<Outcome> {
  // Redacts before cutting: half a key is not recognized.
  const clean = await redactedOutcome(outcome, context.redact);
  return withNote(await boundedOutcome(clean, context, wholeChars), note);
}

/** The note comes after the shortened text: it is about the call, not its output. */
function withNote(outcome: Outcome, note: string | undefined): Outcome {
  if (note === undefined) return outcome;
  if (outcome.type === "ok" || outcome.type === "interrupted")
    return { ...outcome, text: [outcome.text, note].filter(Boolean).join("\n") };
  if (outcome.type !== "failed") return outcome;
  return { ...outcome, failure: { ...outcome.failure, text: `${outcome.failure.text}\n${note}` } };
}
