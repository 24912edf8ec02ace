/** Redacted outcome: keys and passwords taken out of all that a call says, before it is stored or shown. */
import type { Failure, Outcome, OutcomeFacts, ToolContext } from "@lathe/protocol";

type Redact = ToolContext["redact"];

export async function redactedOutcome(outcome: Outcome, redact: Redact): Promise<Outcome> {
  switch (outcome.type) {
    case "ok": {
      const { facts } = outcome;
      const text = await redact(outcome.text);
      return { ...outcome, text, ...(facts && { facts: await redactedFacts(facts, redact) }) };
    }
    case "refused":
      return outcome;
    case "failed":
      return { ...outcome, failure: await redactedFailure(outcome.failure, redact) };
    case "interrupted": {
      const failure = await redactedFailure(outcome.failure, redact);
      return { ...outcome, failure, text: await redact(outcome.text) };
    }
  }
}

/** Of the facts only differences hold a file's text. */
async function redactedFacts(facts: OutcomeFacts, redact: Redact): Promise<OutcomeFacts> {
  if (!facts.changed) return facts;
  const changed = facts.changed.map(async (one) =>
    one.diff === undefined ? one : { ...one, diff: await redact(one.diff) },
  );
  return { ...facts, changed: await Promise.all(changed) };
}

async function redactedFailure(failure: Failure, redact: Redact): Promise<Failure> {
  const text = await redact(failure.text);
  return failure.cause === undefined
    ? { ...failure, text }
    : { ...failure, text, cause: await redact(failure.cause) };
}
