/** The report as a person reads it: what it cost, what fails, whether it gets worse, then the figures by model and more. */
import type { Report, Rot, ToolModel, WorkGroup } from "@lathe/hosts/read-report";
import { count, duration, moment, money } from "../render/figures.ts";
import { fit, harmless } from "../render/fit.ts";
import type { Palette } from "../render/palette.ts";
import { columns, percent, plot } from "./columns.ts";

export interface ReportView {
  readonly paint: Palette;
  readonly width: number;
}

export function reportText(report: Report, view: ReportView): string {
  const { work, errors, span } = report;
  const { bold, dim } = view.paint;
  const head = `${bold("What Lathe did")} ${dim(`since ${moment(span.since)}`)}\n`;
  if (work.total.sessions === 0)
    return `${head}\nNo session worked in that time; --since reaches further back.\n`;
  const sections = [
    summary(report, view),
    alertText(report, view),
    trends(report, view),
    group("By model", work.by.model, view),
    work.by.profile.length > 1 ? group("By profile", work.by.profile, view) : "",
    toolText(errors, view),
    failureText(errors, view),
    rotText(work.rot, view),
    work.by.project.length > 1 ? group("By project", work.by.project, view) : "",
    work.by.harness.length > 1 ? group("By version of Lathe", work.by.harness, view) : "",
    report.ingested.unread > 0
      ? dim(`${report.ingested.unread} logs could not be read and are left out.\n`)
      : "",
  ];
  return `${head}\n${sections.filter((text) => text !== "").join("\n")}`;
}

function costOf({ cost, unpriced }: WorkGroup): string {
  return cost === 0 && unpriced > 0 ? "?" : money(cost);
}

function summary({ work, errors }: Report, { paint }: ReportView): string {
  const { total } = work;
  const { bold, dim } = paint;
  const unpriced = total.unpriced > 0 ? dim(` and ${count(total.unpriced)} attempts of unknown price`) : "";
  const per = total.turns > 0 ? total.cost / total.turns : 0;
  const tools = errors.filter(({ tool }) => tool !== "(model)");
  const calls = tools.reduce((sum, { calls: n }) => sum + n, 0);
  const failed = tools.reduce((sum, { failed: n }) => sum + n, 0);
  const input = total.tokens.fresh + total.tokens.cached + total.tokens.written;
  const lines = [
    `${bold(costOf(total))}${unpriced} · ${total.sessions} sessions, ${total.turns} turns, ${count(total.steps)} steps${per > 0 ? ` · ${money(per)} a turn` : ""}`,
    `${dim("tokens  ")}${count(input)} in (${percent(total.hitRate)} from the cache), ${count(total.tokens.output)} out`,
    `${dim("calls   ")}${count(calls)}, ${count(failed)} failed (${percent(calls > 0 ? failed / calls : 0)}) · ${total.retries} attempts of models failed, ${total.failovers} failovers · ${total.asked} approvals asked`,
    `${dim("turns   ")}${percent(total.turns > 0 ? total.badTurns / total.turns : 0)} ended otherwise than done${total.testMs ? ` · a passing test after ${duration(total.testMs.p50)} (half of the time), ${duration(total.testMs.p95)} (19 of 20 times)` : ""}`,
  ];
  return lines.map((line) => `${line}\n`).join("");
}

function alertText({ alerts, tickets, callsPerFalseAlarm }: Report, { paint }: ReportView): string {
  const { bold, red, green, dim } = paint;
  const open = alerts.filter(({ closedAt }) => closedAt === undefined);
  if (alerts.length === 0) return `${green("No rate of failures has jumped.")}\n`;
  const lines = alerts.map((alert) => {
    const { tool, model, code, failures, calls, baseline, kind, since, closedAt } = alert;
    const rate =
      kind === "jump" ? `${failures} of ${calls}, before at most ${percent(baseline)}` : `${failures} times`;
    const state = closedAt === undefined ? red("open  ") : green("closed");
    return `${state}  ${harmless(tool)} with ${harmless(model)}: ${code}, ${rate}, since ${moment(since)}\n`;
  });
  const head = bold(`Alerts (${open.length} open)`);
  const where = tickets === undefined ? "" : dim(`Tickets: ${tickets}\n`);
  return `${head}\n${lines.join("")}${dim(`At most one false alarm in ${count(callsPerFalseAlarm)} calls of a pair.\n`)}${where}`;
}

function trends({ work: { days } }: Report, { paint, width }: ReportView): string {
  if (days.length < 2) return "";
  const { bold, cyan, dim, red } = paint;
  const room = width - 34;
  const rows = [
    [
      "cost a day",
      cyan(
        plot(
          days.map(({ cost }) => cost),
          room,
        ),
      ),
      money(Math.max(...days.map(({ cost }) => cost))),
    ],
    [
      "calls that failed",
      red(
        plot(
          days.map(({ calls, failedCalls }) => (calls > 0 ? failedCalls / calls : undefined)),
          room,
        ),
      ),
      percent(Math.max(...days.map(({ calls, failedCalls }) => failedCalls / Math.max(1, calls)))),
    ],
    [
      "turns not done",
      red(
        plot(
          days.map(({ turns, badTurns }) => (turns > 0 ? badTurns / turns : undefined)),
          room,
        ),
      ),
      percent(Math.max(...days.map(({ turns, badTurns }) => badTurns / Math.max(1, turns)))),
    ],
    [
      "first token",
      cyan(
        plot(
          days.map(({ firstMs }) => firstMs),
          room,
        ),
      ),
      duration(Math.max(...days.map(({ firstMs }) => firstMs ?? 0))),
    ],
  ];
  const lines = rows.map(
    ([name = "", bars = "", most = ""]) => `${name.padEnd(18)} ${bars} ${dim(`≤ ${most}`)}\n`,
  );
  return `${bold("Day by day")} ${dim(`${days.length} days`)}\n${lines.join("")}`;
}

function group(title: string, groups: readonly WorkGroup[], { paint, width }: ReportView): string {
  if (groups.length === 0) return "";
  const head = [
    "",
    "COST",
    "TURNS",
    "STEPS",
    "CALLS/TURN",
    "CACHE",
    "OUT",
    "FIRST",
    "STEP",
    "STEP 95%",
    "TURN",
    "FAILED",
    "ASKED",
  ];
  const rows = groups
    .slice(0, 12)
    .map((one) => [
      fit(one.name, 28),
      costOf(one),
      count(one.turns),
      count(one.steps),
      one.turns > 0 ? (one.calls / one.turns).toFixed(1) : "",
      percent(one.hitRate),
      count(one.tokens.output),
      one.firstMs ? duration(one.firstMs.p50) : "",
      one.stepMs ? duration(one.stepMs.p50) : "",
      one.stepMs ? duration(one.stepMs.p95) : "",
      one.turnMs ? duration(one.turnMs.p50) : "",
      count(one.retries),
      count(one.asked),
    ]);
  const kept = width >= 125 ? head.map((_, at) => at) : [0, 1, 2, 3, 5, 7, 8, 11];
  const chosen = (row: readonly string[]): readonly string[] => kept.map((at) => row[at] ?? "");
  return `${paint.bold(title)}\n${columns(chosen(head), rows.map(chosen), paint)}`;
}

function toolText(errors: readonly ToolModel[], { paint }: ReportView): string {
  const byTool = Map.groupBy(
    errors.filter(({ tool }) => tool !== "(model)"),
    ({ tool }) => tool,
  );
  if (byTool.size === 0) return "";
  const sum = (rows: readonly ToolModel[], part: "calls" | "failed" | "refused" | "asked"): number =>
    rows.reduce((total, row) => total + row[part], 0);
  const rows = [...byTool]
    .sort((a, b) => sum(b[1], "calls") - sum(a[1], "calls"))
    .slice(0, 15)
    .map(([tool, all]) => {
      const [most] = all.toSorted((a, b) => b.calls - a.calls);
      const share = sum(all, "failed") / Math.max(1, sum(all, "calls"));
      return [
        fit(tool, 24),
        count(sum(all, "calls")),
        percent(share),
        count(sum(all, "refused")),
        count(sum(all, "asked")),
        most?.ms ? duration(most.ms.p50) : "",
        most?.ms ? duration(most.ms.p95) : "",
      ];
    });
  return `${paint.bold("Tools")}\n${columns(["", "CALLS", "FAILED", "REFUSED", "ASKED", "TIME", "TIME 95%"], rows, paint)}`;
}

function failureText(errors: readonly ToolModel[], { paint }: ReportView): string {
  const rows = errors
    .flatMap(({ tool, model, calls, failures }) => failures.map((one) => ({ tool, model, calls, ...one })))
    .sort((a, b) => b.times - a.times)
    .slice(0, 12)
    .map(({ tool, model, calls, class: kind, code, times }) => [
      `${kind} · ${code}`,
      fit(tool, 20),
      fit(model, 28),
      count(times),
      percent(times / calls),
    ]);
  if (rows.length === 0) return "";
  return `${paint.bold("What fails")}\n${columns(["", "TOOL", "MODEL", "TIMES", "OF ITS CALLS"], rows, paint)}`;
}

function rotText(rot: readonly Rot[], { paint }: ReportView): string {
  if (rot.length < 2) return "";
  const rows = rot.map(({ errors, turns, bad }) => [
    `${errors} failed calls`,
    count(turns),
    percent(bad / turns),
    paint.red("█".repeat(Math.round((20 * bad) / turns)).padEnd(20)),
  ]);
  return `${paint.bold("Turns that do not end well, by failed calls in them")}\n${columns(["", "TURNS", "NOT DONE", ""], rows, paint)}`;
}
