/** Clean outcome: what a call says, without secrets and of a length that fits a conversation. */
import type { Outcome, ToolContext } from "@lathe/protocol";
import { boundedOutcome } from "./bounded-outcome.ts";
import { redactedOutcome } from "./redacted-outcome.ts";

/** `wholeChars`: the longest text that is shown whole. */
export async function cleanOutcome(
  outcome: Outcome,
  context: ToolContext,
  wholeChars?: number,
): Promise<Outcome> {
  // Before it is cut: half a key is not known for one.
  const clean = await redactedOutcome(outcome, context.redact);
  return boundedOutcome(clean, context, wholeChars);
}
