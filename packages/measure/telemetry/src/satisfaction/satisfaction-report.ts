/** Satisfaction report: users' reactions after the turns of a span, classified by the rules. */
import type { DatabaseSync } from "node:sqlite";
import { type Reaction, reactions, readReaction } from "../events/read-reaction.ts";
import type { Span } from "../report/read-rows.ts";
import { type Estimate, kappa, type Reading, troubleRate } from "./agreement.ts";
import { labelledMessages } from "./labelled-messages.ts";

export interface SatisfactionGroup {
  readonly name: string;
  readonly counts: Readonly<Record<Reaction, number>>;
  /** Share of trouble among turns that a message followed; absent without one. */
  readonly trouble?: Estimate;
}

export interface SatisfactionReport {
  readonly total: SatisfactionGroup;
  readonly models: readonly SatisfactionGroup[];
  /** A person's turns without a following message. */
  readonly silent: number;
  /** Agreement of the rules with the held-out labelled messages. */
  readonly kappa: Estimate;
}

/** After this many milliseconds an unsuccessful, unanswered turn counts as given up. */
const leftMs = 86_400_000;

interface Row {
  /**
   * The user reacted to the turn. Others are counted but enter no rate, and neither do turns that were done
   * and left.
   */
  readonly isSaid: boolean;
  readonly model: string;
  readonly reaction: Reaction;
}

export function readSatisfaction(database: DatabaseSync, { since, until }: Span): SatisfactionReport {
  const rows = [...said(database, since, until), ...left(database, since, until)];
  const readings = rulesOnHeldOut();
  const byModel = Map.groupBy(rows, ({ model }) => model);
  const turns = database
    .prepare(
      `select count(*) as n from turns t join sessions s on s.id = t.session
       where s.agent is null and t.at >= ? and t.at < ?`,
    )
    .get(since, until);
  return {
    total: groupOf("all", rows, readings),
    models: [...byModel]
      .map(([model, own]) => groupOf(model, own, readings))
      .sort((a, b) => sumOf(b) - sumOf(a)),
    silent: Math.max(0, Number(turns?.n ?? 0) - rows.length),
    kappa: kappa(readings),
  };
}

function said(database: DatabaseSync, since: number, until: number): readonly Row[] {
  const rows = database
    .prepare(
      `select r.model, r.reaction from reactions r join sessions s on s.id = r.session
       where s.agent is null and r.at >= ? and r.at < ?`,
    )
    .all(since, until);
  return rows.map((row) => ({ ...(row as unknown as Row), isSaid: true }));
}

/** Last turns of their sessions that did not end as done and were never resumed. */
function left(database: DatabaseSync, since: number, until: number): readonly Row[] {
  const rows = database
    .prepare(
      `select t.model, 'gave-up' as reaction from turns t join sessions s on s.id = t.session
       where s.agent is null and t.at >= ?1 and t.at < ?2 and t.at < ?2 - ?3 and t."end" in ('cancelled', 'failed')
         and not exists (select 1 from turns later where later.session = t.session and later.seq > t.seq)
         and not exists (select 1 from reactions r where r.session = t.session and r.seq = t.seq)`,
    )
    .all(since, until, leftMs);
  return rows.map((row) => ({ ...(row as unknown as Row), isSaid: false }));
}

function rulesOnHeldOut(): readonly Reading[] {
  return labelledMessages()
    .filter(({ isHeldOut }) => isHeldOut)
    .map(({ label, text }) => ({ label, read: readReaction(text) }));
}

function groupOf(name: string, rows: readonly Row[], readings: readonly Reading[]): SatisfactionGroup {
  const all = rows.map(({ reaction }) => reaction);
  const counts = Object.fromEntries(
    reactions.map((reaction) => [reaction, all.filter((one) => one === reaction).length]),
  ) as Record<Reaction, number>;
  const said = rows.filter(({ isSaid }) => isSaid).map(({ reaction }) => reaction);
  const trouble = troubleRate(said, readings);
  return { name, counts, ...(trouble && { trouble }) };
}

function sumOf({ counts }: SatisfactionGroup): number {
  return Object.values(counts).reduce((sum, one) => sum + one, 0);
}
