/** Session values: what is measured of each session of an experiment, with its subagents, in the time it is given. */
import type { DatabaseSync } from "node:sqlite";

/** Milliseconds after its exposure in which a session counts: later looks then never change what it came to. */
const windowMs = 86_400_000;

export type SessionMetric = "done" | "failed-calls" | "cost" | "tokens" | "steps" | "time" | "approvals";

export interface MetricKind {
  /** Where its values are between 0 and 1, intervals hold for any number of sessions. */
  readonly isShare: boolean;
  readonly isBetter: "higher" | "lower";
}

export const metricKinds: Readonly<Record<SessionMetric, MetricKind>> = {
  done: { isShare: true, isBetter: "higher" },
  "failed-calls": { isShare: true, isBetter: "lower" },
  cost: { isShare: false, isBetter: "lower" },
  tokens: { isShare: false, isBetter: "lower" },
  steps: { isShare: false, isBetter: "lower" },
  time: { isShare: false, isBetter: "lower" },
  approvals: { isShare: false, isBetter: "lower" },
};

export interface ExposedSession {
  readonly at: number;
  readonly arm: string;
  readonly shares: Readonly<Record<string, number>>;
  readonly definition: string;
  /** Every metric; of a session with nothing to count it is 0. */
  readonly values: Readonly<Record<SessionMetric, number>>;
}

const tree =
  "where f.session in (select e.session union all select id from sessions s where s.root = e.session)";
const inWindow = "f.at >= e.at and f.at < e.at + ?1";

/** Turns that end otherwise than done count against a session; those that never end are not in the tables. */
const measures: Readonly<Record<SessionMetric, string>> = {
  done: `select avg(f."end" = 'done') from turns f where f.session = e.session and ${inWindow}`,
  "failed-calls": `select avg(f.code is not null) from calls f ${tree} and ${inWindow}`,
  cost: `select sum(cost) from (select cost from steps f ${tree} and ${inWindow}
    union all select cost from compactions f ${tree} and ${inWindow})`,
  tokens: `select sum(f.fresh + f.cached + f.written + f.output) from steps f ${tree} and ${inWindow}`,
  steps: `select count(*) from steps f ${tree} and f.code is null and ${inWindow}`,
  time: `select sum(f.ms - f.waitedMs) from turns f where f.session = e.session and ${inWindow}`,
  approvals: `select sum(f.asked) from turns f ${tree} and ${inWindow}`,
};

const names = Object.keys(measures) as readonly SessionMetric[];

/** Sessions of a person, in the order of their exposure; those whose time is not over have no values yet. */
export function readExposed(
  database: DatabaseSync,
  experiment: string,
  now: number,
): readonly (Omit<ExposedSession, "values"> & Partial<Pick<ExposedSession, "values">>)[] {
  const parts = names.map((metric) => `(${measures[metric]}) as "${metric}"`);
  const rows = database
    .prepare(
      `select e.at, e.arm, e.shares, e.definition, ${parts.join(", ")} from exposures e
       join sessions own on own.id = e.session
       where own.agent is null and e.experiment = ?2 order by e.at, e.session`,
    )
    .all(windowMs, experiment);
  return rows.map((row) => {
    const at = Number(row.at);
    const values = Object.fromEntries(names.map((metric) => [metric, Number(row[metric] ?? 0)]));
    const session = { at, arm: String(row.arm), definition: String(row.definition) };
    const shares = JSON.parse(String(row.shares)) as ExposedSession["shares"];
    const isOver = at + windowMs <= now;
    return {
      ...session,
      shares,
      ...(isOver && { values: values as Readonly<Record<SessionMetric, number>> }),
    };
  });
}
