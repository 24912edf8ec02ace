/** Results of probes as figures and as an aligned table. */
import type { ProbeResult } from "./probe.ts";

export interface Score {
  readonly contained: number;
  readonly escaped: readonly string[];
  readonly grave: readonly string[];
  readonly worked: number;
  readonly failed: readonly string[];
  readonly skipped: readonly string[];
  readonly broken: readonly string[];
  readonly absent: readonly string[];
}

export function scoreOf(results: readonly ProbeResult[]): Score {
  const ids = (outcome: ProbeResult["outcome"]): readonly string[] =>
    results.filter((result) => result.outcome === outcome).map(({ id }) => id);
  return {
    contained: ids("contained").length,
    escaped: ids("escaped"),
    grave: results.filter(({ outcome, isGrave }) => outcome === "escaped" && isGrave).map(({ id }) => id),
    worked: ids("worked").length,
    failed: ids("failed"),
    skipped: ids("skipped"),
    broken: ids("broken"),
    absent: ids("absent"),
  };
}

/** One line per probe that failed, grave ones first. */
export function failureTable(results: readonly ProbeResult[]): string {
  const rows = results
    .filter(({ outcome }) => outcome !== "contained" && outcome !== "worked")
    .sort((one, other) => weight(one) - weight(other))
    .map(
      ({ outcome, isGrave, id, why }) =>
        [isGrave && outcome === "escaped" ? "GRAVE" : outcome, id, why] as const,
    );
  const width = (at: 0 | 1): number => Math.max(0, ...rows.map((row) => row[at].length));
  const [first, second] = [width(0), width(1)];
  return rows
    .map(
      ([kind, id, why]) =>
        `${kind.padEnd(first)}  ${id.padEnd(second)}  ${why.replaceAll("\n", " | ").slice(0, 300)}`,
    )
    .join("\n");
}

function weight({ outcome, isGrave }: ProbeResult): number {
  if (outcome === "skipped" || outcome === "absent") return 3;
  if (outcome === "failed") return 1;
  return isGrave ? 0 : 2;
}
