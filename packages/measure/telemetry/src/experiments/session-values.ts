/** Session values: the metrics of each session of an experiment, with its subagents, within its window. */
import type { DatabaseSync } from "node:sqlite";
import type { LoggedMetric, SessionMetric } from "./session-metrics.ts";

/** Milliseconds after its exposure in which a session counts: later looks then never change its values. */
const windowMs = 86_400_000;

/** A turn open for less may still be running; one open for longer never ended. */
const openMs = 3_600_000;

export interface ExposedSession {
  readonly at: number;
  readonly arm: string;
  readonly shares: Readonly<Record<string, number>>;
  readonly definition: string;
  /** Every metric; 0 for a session with nothing to count. */
  readonly values: Readonly<Record<SessionMetric, number>>;
}

const tree =
  "where f.session in (select e.session union all select id from sessions s where s.root = e.session)";
const inWindow = "f.at >= e.at and f.at < e.at + ?1";

/**
 * The turns of a session that count in its window, with their end at that time. A turn that began well before
 * the window closed and had not ended counts, too: its process was killed, or its terminal closed, in its
 * original arm.
 */
const turnsOf = `select f."end", f.seq from turns f where f.session = e.session and ${inWindow}
  union all select 'open', null from turns f
    where f.session = e.session and f.at >= e.at + ?1 and f.at - f.ms < e.at + ?1 - ?3
  union all select 'open', null from sessions f
    where f.id = e.session and json_extract(f.state, '$.turn.startedAt') < e.at + ?1 - ?3`;

/** Turns that do not end as done, or never end, count against a session. */
const measures: Readonly<Record<LoggedMetric, string>> = {
  done: `select avg(t."end" = 'done') from (${turnsOf}) t`,
  "not-ended": `select avg(t."end" = 'open') from (${turnsOf}) t`,
  trouble: `select avg(exists (select 1 from reactions r where r.session = e.session and r.seq = t.seq
    and r.saidAt < e.at + ?1 and r.reaction in ('corrected', 'failure-reported', 'gave-up'))) from (${turnsOf}) t`,
  "failed-calls": `select avg(f.code is not null) from calls f ${tree} and ${inWindow}`,
  cost: `select sum(cost) from (select cost from steps f ${tree} and ${inWindow}
    union all select cost from compactions f ${tree} and ${inWindow})`,
  tokens: `select sum(f.fresh + f.cached + f.written + f.output) from steps f ${tree} and ${inWindow}`,
  steps: `select count(*) from steps f ${tree} and f.code is null and ${inWindow}`,
  time: `select sum(f.ms - f.waitedMs) from turns f where f.session = e.session and ${inWindow}`,
  approvals: `select sum(f.asked) from turns f ${tree} and ${inWindow}`,
};

const names = Object.keys(measures) as readonly LoggedMetric[];

/** The experiment and time to query. */
export interface ExposedQuery {
  readonly experiment: string;
  readonly now: number;
  /**
   * A session's lines a day after it ended: the original number and the remaining one; undefined until known.
   */
  linesOf?(session: string): { readonly lines: number; readonly kept: number } | undefined;
}

/**
 * Sessions of a person, ordered by exposure. Values are missing while the window is open, or while requested
 * observations of lines are missing.
 */
export function readExposed(
  database: DatabaseSync,
  { experiment, now, linesOf }: ExposedQuery,
): readonly (Omit<ExposedSession, "values"> & Partial<Pick<ExposedSession, "values">>)[] {
  const parts = names.map((metric) => `(${measures[metric]}) as "${metric}"`);
  const rows = database
    .prepare(
      `select e.at, e.session, e.arm, e.shares, e.definition, ${parts.join(", ")} from exposures e
       join sessions own on own.id = e.session
       where own.agent is null and e.experiment = ?2 order by e.at, e.session`,
    )
    .all(windowMs, experiment, openMs);
  const changedOf = database.prepare(
    `select distinct f.session from changes f, (select ? as session, ? as at) e ${tree} and f.at >= e.at and f.at < e.at + ?`,
  );
  return rows.map((row) => {
    const at = Number(row.at);
    const logged = Object.fromEntries(names.map((metric) => [metric, Number(row[metric] ?? 0)]));
    const changed = linesOf ? changedOf.all(String(row.session), at, windowMs) : [];
    const lost = lostOf(changed.map((one) => linesOf?.(String(one.session))));
    const values = { ...logged, "lost-lines": lost };
    const session = { at, arm: String(row.arm), definition: String(row.definition) };
    const shares = JSON.parse(String(row.shares)) as ExposedSession["shares"];
    const isOver = at + windowMs <= now && lost !== undefined;
    return {
      ...session,
      shares,
      ...(isOver && { values: values as Readonly<Record<SessionMetric, number>> }),
    };
  });
}

/** The share of lost lines; undefined until it is known for all sessions of the tree. */
function lostOf(
  all: readonly ({ readonly lines: number; readonly kept: number } | undefined)[],
): number | undefined {
  let [lines, kept] = [0, 0];
  for (const one of all) {
    if (!one) return undefined;
    lines += one.lines;
    kept += one.kept;
  }
  return lines > 0 ? 1 - kept / lines : 0;
}
