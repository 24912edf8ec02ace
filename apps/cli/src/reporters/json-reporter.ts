/** The `json` format: one object on stdout when all is over. */
import type { Descendants } from "@lathe/sessions";
import type { Reporter, RunResult } from "./reporter.ts";
import { emptyTally, type Tally, tallied } from "./tally.ts";

export function createJsonReporter(write: (text: string) => void): Reporter {
  let tally = emptyTally;
  return {
    start: () => {},
    delta: () => {},
    event: (event) => {
      tally = tallied(tally, event);
    },
    end: (result) => write(`${JSON.stringify(resultObject(result, tally))}\n`),
  };
}

function resultObject({ session, failure, ms, output, subagents }: RunResult, tally: Tally): object {
  const { account, settings } = session;
  return {
    session: session.id,
    end: failure ? { type: "failed", failure } : (session.lastEnd ?? null),
    text: tally.text,
    ...(output && { output: output.value }),
    steps: tally.steps,
    ms: Math.round(ms),
    model: session.model,
    usage: session.usage,
    cost: account.costUnknown ? null : account.cost,
    changed: [...new Set([...tally.changed, ...(subagents?.changed ?? [])])],
    ...(tally.runLater.length > 0 && { runLater: tally.runLater }),
    // Where it worked: it waits, unless it was taken over or nothing changed in it.
    ...(settings.inFork !== undefined && { fork: settings.inFork }),
    ...(subagents && { subagents: addedBy(subagents) }),
    network: session.contacts,
  };
}

/** `usage` and `cost` are the session's alone. */
function addedBy({ sessions, tokens, cost, costUnknown }: Descendants): object {
  return { sessions, tokens, cost: costUnknown ? null : cost };
}
