/** Folds a session's log into the cost of each step and of each part. */
import {
  addUsage,
  apply,
  type CacheMiss,
  type Event,
  emptySession,
  noUsage,
  type Rates,
  type Reservation,
  type Session,
  type Usage,
} from "@lathe/protocol";
import type { CostReport, FailedCost, MissCost, Place, StepCost, SummaryCost, Total } from "./cost-report.ts";
import { addOutput, partsOf, type Sums, shareInput } from "./share-input.ts";

const nothing: Reservation = { tokens: 0, cost: 0 };

/** The totals collected while reading the log. */
interface Gathered {
  readonly steps: StepCost[];
  readonly sums: Map<string, Sums>;
  readonly misses: Map<string, MissCost>;
  readonly switches: CostReport["switches"][number][];
  readonly summaries: SummaryCost[];
  failed: FailedCost;
  /** Reservations by attempt. */
  readonly reserved: Map<string, Reservation>;
  readonly settled: Map<string, Reservation>;
  retries: number;
  sentBefore: number;
}

export function foldCosts(events: readonly Event[]): CostReport {
  const gathered: Gathered = {
    steps: [],
    sums: new Map(),
    misses: new Map(),
    switches: [],
    summaries: [],
    failed: { attempts: 0, codes: {}, ms: 0, charged: nothing, unpriced: 0 },
    reserved: new Map(),
    settled: new Map(),
    retries: 0,
    sentBefore: 0,
  };
  let session = emptySession;
  for (const event of events) {
    gather(gathered, event, session);
    session = apply(session, event);
    // After a rewind or a compaction, the remaining parts were all sent before.
    if (event.type === "session.rewound" || event.type === "context.compacted")
      gathered.sentBefore = Math.min(gathered.sentBefore, partsOf(session).length);
  }
  const { id, title, cwd } = session;
  const { steps, failed, switches, summaries, reserved, settled } = gathered;
  const models = [...new Set(steps.map(({ model }) => model))];
  return {
    id,
    title,
    cwd,
    steps,
    failed,
    switches,
    summaries,
    total: totalOf(steps),
    models: models.map((model) => {
      const own = steps.filter((step) => step.model === model);
      return { model, steps: own.length, ...totalOf(own) };
    }),
    places: placesOf(gathered.sums),
    misses: [...gathered.misses.values()].sort((a, b) => b.tokens - a.tokens),
    reserved: [...reserved.values()].reduce(plus, nothing),
    used: [...settled.values()].reduce(plus, nothing),
  };
}

function gather(gathered: Gathered, event: Event, session: Session): void {
  switch (event.type) {
    case "budget.reserved":
      gathered.reserved.set(event.data.attempt, event.data);
      return;
    case "budget.settled":
      gathered.settled.set(event.data.attempt, event.data);
      return;
    case "model.switched":
      gathered.switches.push(event.data);
      return;
    case "context.compacted":
      gatherSummary(gathered, event);
      return;
    case "step.failed":
      gatherFailed(gathered, event);
      return;
    case "step.completed":
      gatherStep(gathered, event, session);
      return;
    default:
      return;
  }
}

function gatherSummary(
  { summaries }: Gathered,
  { data: { summarized }, at }: Event<"context.compacted">,
): void {
  if (!summarized) return;
  const { model, usage, cost, ms, failure } = summarized;
  summaries.push({
    at,
    model,
    ms,
    ...(usage && { usage }),
    ...(cost !== undefined && { cost }),
    ...(failure && { failure: failure.text }),
  });
}

function gatherFailed(gathered: Gathered, { data }: Event<"step.failed">): void {
  const { attempts, codes, ms, charged, unpriced } = gathered.failed;
  const { code } = data.failure;
  const settled = gathered.settled.get(data.attempt) ?? nothing;
  gathered.retries += 1;
  gathered.failed = {
    attempts: attempts + 1,
    codes: { ...codes, [code]: (codes[code] ?? 0) + 1 },
    ms: ms + data.ms,
    charged: plus(charged, settled),
    unpriced: unpriced + (settled.cost === undefined ? 1 : 0),
  };
}

function gatherStep(gathered: Gathered, { data, at }: Event<"step.completed">, session: Session): void {
  const { attempt, model, usage, cost, firstMs, ms, cache, rates } = data;
  const reserved = gathered.reserved.get(attempt);
  gathered.steps.push({
    step: gathered.steps.length + 1,
    at,
    model,
    firstMs,
    ms,
    retries: gathered.retries,
    ...(usage && { usage }),
    ...(cost !== undefined && { cost }),
    ...(cache && { cache }),
    ...(reserved && { reserved: bare(reserved) }),
  });
  gathered.retries = 0;
  if (!usage) return;
  const parts = partsOf(session);
  shareInput(gathered.sums, { parts, sentBefore: gathered.sentBefore }, { usage, rates });
  addOutput(gathered.sums, usage, rates);
  gathered.sentBefore = parts.length;
  if (cache?.miss) gatherMiss(gathered.misses, cache.miss, { usage, rates });
}

function gatherMiss(
  misses: Map<string, MissCost>,
  { cause, tokens }: CacheMiss,
  { usage, rates }: { readonly usage: Usage; readonly rates: Rates | undefined },
): void {
  const before = misses.get(cause) ?? { cause, times: 0, tokens: 0, cost: 0 };
  const paid = rates && (usage.written > 0 ? rates.written : rates.input);
  const more = rates && paid !== undefined ? (tokens * Math.max(0, paid - rates.cached)) / 1e6 : 0;
  misses.set(cause, {
    cause,
    times: before.times + 1,
    tokens: before.tokens + tokens,
    cost: before.cost + more,
  });
}

function totalOf(steps: readonly StepCost[]): Total {
  return {
    usage: steps.reduce((sum, { usage = noUsage }) => addUsage(sum, usage), noUsage),
    cost: steps.reduce((sum, { cost = 0 }) => sum + cost, 0),
    unpriced: steps.filter(({ cost }) => cost === undefined).length,
  };
}

function placesOf(sums: ReadonlyMap<string, Sums>): readonly Place[] {
  return [...sums.values()]
    .map(({ kind, tokens, charged, cost }) => ({
      ...kind,
      tokens: Math.round(tokens),
      charged: Math.round(charged),
      cost,
    }))
    .sort((a, b) => b.cost - a.cost || b.charged - a.charged);
}

function plus(sum: Reservation, { tokens, cost = 0 }: Reservation): Reservation {
  return { tokens: sum.tokens + tokens, cost: (sum.cost ?? 0) + cost };
}

function bare({ tokens, cost }: Reservation): Reservation {
  return cost === undefined ? { tokens } : { tokens, cost };
}
