/** Read report: what the logs of this machine say of a span, with alerts, which become tickets. */
import { join } from "node:path";
import { profileOf } from "@lathe/context";
import { isFailure } from "@lathe/protocol";
import type { Env } from "@lathe/system";
import {
  type Alert,
  alertKey,
  callsPerFalseAlarm,
  type Ingested,
  markdownTickets,
  readCalls,
  readErrors,
  readSatisfaction,
  readWork,
  type SatisfactionReport,
  type Span,
  type ToolModel,
  type WorkReport,
  watchCalls,
  writeTickets,
} from "@lathe/telemetry";
import { stateFolder } from "../places/state-folder.ts";
import { openTelemetry } from "./open-telemetry.ts";
import { reportNames } from "./report-names.ts";

export interface ReportQuery extends Span {
  /** Whether projects are called by their names. */
  readonly withNames: boolean;
}

/** With what its ticket, and `lathe report fix`, know it by. */
export type ReportedAlert = Alert & { readonly key: string };

export interface Report {
  readonly span: Span;
  readonly work: WorkReport;
  readonly errors: readonly ToolModel[];
  /** Of all time: what closed before the span is left out. */
  readonly alerts: readonly ReportedAlert[];
  /** Where their tickets are; absent without any. */
  readonly tickets?: string;
  /** On average at most one false alarm in so many calls of a tool by a model. */
  readonly callsPerFalseAlarm: number;
  /** What users said next. */
  readonly satisfaction: SatisfactionReport;
  readonly ingested: Ingested;
  readonly remarks: readonly string[];
}

export async function readReport(env: Env, query: ReportQuery): Promise<Report> {
  const telemetry = await openTelemetry(env);
  const { facts, ingested, remark } = telemetry;
  const { since, until, withNames } = query;
  const span = { since, until };
  try {
    const { projectName } = reportNames(withNames);
    const names = { profileOf: profileName, projectName };
    const all = watchCalls(readCalls(facts));
    const tickets = join(stateFolder(env), "tickets");
    const written = await ticketsOf(tickets, all);
    const alerts = all
      .filter(({ closedAt, lastAt }) => (closedAt ?? lastAt) >= since)
      .map((alert) => ({ ...alert, key: alertKey(alert) }));
    const work = readWork(facts, span, names);
    const errors = readErrors(facts, span);
    const remarks = [remark, written === undefined ? `No tickets can be written to ${tickets}.` : undefined];
    return {
      span,
      work,
      errors,
      alerts,
      callsPerFalseAlarm,
      ingested,
      satisfaction: readSatisfaction(facts, span),
      remarks: remarks.filter((one) => one !== undefined),
      ...(written && { tickets }),
    };
  } finally {
    facts.close();
  }
}

/** How many there are; undefined where they cannot be written, which keeps nobody from the report. */
async function ticketsOf(folder: string, alerts: readonly Alert[]): Promise<number | undefined> {
  try {
    const written = await writeTickets(markdownTickets(folder), alerts);
    return isFailure(written) ? undefined : written;
  } catch {
    return undefined;
  }
}

function profileName(model: string): string {
  const { family, since } = profileOf(model);
  return `${family} ${since.join(".")}`;
}
