/** `lathe report keep`: measures how many of the lines that edits added are still there. */
import { constants, setPriority } from "node:os";
import { readKeepRates } from "@lathe/hosts/measure";
import { type Horizon, horizonNames, type KeepRow } from "@lathe/keep-rate";
import { type Failure, isFailure } from "@lathe/protocol";
import { columns, count, fit, harmless, type Palette, paletteFor, percent } from "@lathe/terminal";

interface Asked {
  readonly since: number;
  readonly withNames: boolean;
  readonly json: boolean;
}

export async function reportKeep({ json, ...query }: Asked): Promise<number | Failure> {
  const found = await readKeepRates(process.env, query);
  if (isFailure(found)) return found;
  if (json) {
    process.stdout.write(`${JSON.stringify(found)}\n`);
    return 0;
  }
  const paint = paletteFor(process.stdout, process.env);
  if (found.total.length === 0) {
    process.stdout.write("No change is an hour old yet, or none was kept when its session ended.\n");
    return 0;
  }
  const { model, tool, language, folder } = found.by;
  const parts = [
    totalText(found.total, paint),
    part("By model", model, paint),
    part("By tool", tool, paint),
    part("By language", language, paint),
    part("By folder", folder, paint),
    found.measured.gone > 0
      ? paint.dim("Some projects are not where they were; their changes are not measured.\n")
      : "",
    found.measured.unread === undefined
      ? ""
      : paint.dim(`Some projects are not measured: ${harmless(found.measured.unread)}\n`),
  ];
  process.stdout.write(parts.filter((text) => text !== "").join("\n"));
  return 0;
}

/**
 * Saves the observations project by project; work that does not fit into this time is left for the next run.
 */
const quietMs = 60_000;

/** The measurement that sessions start in the background. */
export async function keepQuietly(): Promise<number> {
  setTimeout(() => process.exit(0), quietMs).unref();
  try {
    setPriority(constants.priority.PRIORITY_LOW);
  } catch {
    // If the priority cannot be lowered, continue without that.
  }
  await readKeepRates(process.env, { since: Date.now(), withNames: false });
  return 0;
}

const words: Readonly<Record<Horizon, string>> = {
  hour: "1 hour",
  day: "1 day",
  week: "1 week",
  month: "1 month",
};

function totalText(total: readonly KeepRow[], paint: Palette): string {
  const rows = horizonNames.flatMap((horizon) => {
    const row = total.find((one) => one.horizon === horizon);
    if (!row) return [];
    const bar = paint.green("█".repeat(Math.round(20 * row.kept)).padEnd(20, "░"));
    return [
      [
        `after ${words[horizon]}`,
        percent(row.kept),
        bar,
        percent(row.byUser),
        percent(row.byAgent),
        percent(row.laidOut),
        count(row.lines),
        count(row.changes),
      ],
    ];
  });
  const head = ["", "STILL THERE", "", "USER CHANGED", "AGENT CHANGED", "REFORMATTED", "LINES", "CHANGES"];
  return `${paint.bold("Lines that were there when their session ended, and still are")}\n${columns(head, rows, paint)}`;
}

function part(title: string, rows: readonly KeepRow[], paint: Palette): string {
  const names = [...Map.groupBy(rows, ({ name }) => name)];
  const most = (all: readonly KeepRow[]): number => Math.max(...all.map(({ lines }) => lines));
  const lines = names
    .sort((a, b) => most(b[1]) - most(a[1]))
    .slice(0, 12)
    .map(([name, all]) => [
      fit(name, 36),
      ...horizonNames.map((horizon) => percent(all.find((one) => one.horizon === horizon)?.kept)),
      count(most(all)),
    ]);
  const head = ["", ...horizonNames.map((horizon) => words[horizon].toUpperCase()), "LINES"];
  return lines.length > 0 ? `${paint.bold(title)}\n${columns(head, lines, paint)}` : "";
}
