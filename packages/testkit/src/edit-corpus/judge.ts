/** Runs cases through an engine and distinguishes correct answers from each kind of wrong one. */
import { performance } from "node:perf_hooks";
import { coresOf } from "./change.ts";
import type { EditAnswer, EditCase, EditRequest } from "./edit-case.ts";

export type Verdict =
  | "right"
  /** The engine applied an edit that it should have refused. */
  | "applied-not-refused"
  /** The wrong place was changed, or the wrong text written. */
  | "wrong-apply"
  /** Correct except for white space, or correct with damage to lines elsewhere. */
  | "damage"
  | "refused";

const verdicts: readonly Verdict[] = ["right", "applied-not-refused", "wrong-apply", "damage", "refused"];

export interface Judged {
  readonly case: EditCase;
  readonly answer: EditAnswer;
  readonly verdict: Verdict;
  readonly ms: number;
}

export type ApplyEdit = (request: EditRequest) => EditAnswer | Promise<EditAnswer>;

export async function judgeCases(cases: readonly EditCase[], apply: ApplyEdit): Promise<Judged[]> {
  const judged: Judged[] = [];
  for (const one of cases) {
    const started = performance.now();
    const answer = await apply(one.request);
    const ms = performance.now() - started;
    judged.push({ case: one, answer, verdict: verdictOf(one, answer), ms });
  }
  return judged;
}

export function verdictOf({ request, expect }: EditCase, answer: EditAnswer): Verdict {
  if ("refuse" in expect) return answer.ok ? "applied-not-refused" : "right";
  if (!answer.ok) return expect.orRefuse ? "right" : "refused";
  if (answer.content === expect.content) return "right";
  return isDamage(request.content, expect.content, answer.content) ? "damage" : "wrong-apply";
}

function isDamage(before: string, expected: string, got: string): boolean {
  const bare = (text: string): string => text.replace(/[\s\uFEFF]+/g, "");
  if (bare(expected) === bare(got)) return true;
  const lines = (text: string): string[] => text.split(/\r?\n/);
  const wanted = changesAsText(lines(before), lines(expected));
  const made = new Set(changesAsText(lines(before), lines(got)));
  return wanted.length > 0 && wanted.every((change) => made.has(change));
}

function changesAsText(before: readonly string[], after: readonly string[]): string[] {
  return coresOf(before, after).map((core) => JSON.stringify(core));
}

/** Formats counts per corruption and format, and the total, as an aligned table. */
export function formatReport(judged: readonly Judged[]): string {
  const groups = Map.groupBy(judged, (one) => `${one.case.corruption} ${one.case.request.format}`);
  const rows = [...groups].map(([name, group]) => rowOf(name, group));
  const total = rowOf("all", judged);
  const head = ["corruption format", "cases", ...verdicts, "p50 ms", "p95 ms"];
  return aligned([head, ...rows, total]);
}

function rowOf(name: string, group: readonly Judged[]): string[] {
  const counts = verdicts.map((verdict) => group.filter((one) => one.verdict === verdict).length);
  const times = group.map(({ ms }) => ms).sort((a, b) => a - b);
  const at = (share: number): string => (times[Math.floor(times.length * share)] ?? 0).toFixed(2);
  return [
    name,
    `${group.length}`,
    ...counts.map((count) => (count === 0 ? "." : `${count}`)),
    at(0.5),
    at(0.95),
  ];
}

function aligned(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const cell = (text: string, column: number): string =>
    column === 0 ? text.padEnd(widths[0] ?? 0) : text.padStart(widths[column] ?? 0);
  return rows.map((row) => row.map(cell).join("  ").trimEnd()).join("\n");
}
