/** Redacted outcome: removes keys and passwords from an outcome before it is stored or shown. */
import type { Checked, Failure, FileChange, Outcome, OutcomeFacts, ToolContext } from "@lathe/protocol";

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

/** Among the facts, diffs contain file text, and checkers' problems may quote it. */
async function redactedFacts(facts: OutcomeFacts, redact: Redact): Promise<OutcomeFacts> {
  const { changed, checked } = facts;
  return {
    ...facts,
    ...(changed && { changed: await Promise.all(changed.map((one) => redactedChange(one, redact))) }),
    ...(checked && { checked: await redactedProblems(checked, redact) }),
  };
}

async function redactedChange(change: FileChange, redact: Redact): Promise<FileChange> {
  return change.diff === undefined ? change : { ...change, diff: await redact(change.diff) };
}

async function redactedProblems(checked: Checked, redact: Redact): Promise<Checked> {
  const problems = checked.problems.map(async (one) => ({ ...one, message: await redact(one.message) }));
  return { ...checked, problems: await Promise.all(problems) };
}

async function redactedFailure(failure: Failure, redact: Redact): Promise<Failure> {
  const text = await redact(failure.text);
  return failure.cause === undefined
    ? { ...failure, text }
    : { ...failure, text, cause: await redact(failure.cause) };
}
