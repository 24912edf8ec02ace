/** Attempts as people read them: a line while they work, and the table at the end. */
import type { BestOf } from "@lathe/hosts/attempts/best-of";
import type { AttemptRow } from "@lathe/hosts/attempts/running";
import type { AttemptResult, AttemptsVerdict } from "@lathe/protocol";
import { count, duration, money } from "../render/figures.ts";
import { fit, harmless } from "../render/fit.ts";
import type { Palette } from "../render/palette.ts";
import { table } from "../render/table.ts";

/** Undefined for one that waits for its turn. */
export function rowText(at: number, row: AttemptRow | undefined): string {
  const name = `attempt ${at + 1}`;
  if (!row) return `${name} · waits`;
  const figures = `${row.steps} ${row.steps === 1 ? "step" : "steps"} · ${money(row.cost)}`;
  if (!row.result) {
    const doing = row.state === "testing" ? "runs the tests" : (row.doing ?? "begins");
    return `${name} · ${figures} · ${harmless(doing)}`;
  }
  return `${name} · ${figures} · ${endText(row.result)}, ${testsText(row.result)}, ${sizeText(row.result)}`;
}

function endText({ end }: AttemptResult): string {
  return end === "cancelled" ? "interrupted" : end;
}

function testsText({ tests }: AttemptResult): string {
  if (!tests) return "no tests";
  if (tests.passed) return "tests pass";
  if (tests.problem !== undefined) return "tests not run to the end";
  return tests.failures === undefined
    ? "tests fail"
    : `${tests.failures} ${tests.failures === 1 ? "test fails" : "tests fail"}`;
}

function sizeText({ files, added, removed }: AttemptResult): string {
  if (files === 0) return "nothing changed";
  return `${files} ${files === 1 ? "file" : "files"} +${count(added)} -${count(removed)}`;
}

const modelWidth = 28;

/** The winner is marked. */
export function comparisonText(
  { results, winner }: AttemptsVerdict,
  models: readonly (string | undefined)[],
  { bold, dim, green, red }: Palette,
): string {
  const hasModels = models.some(Boolean);
  const head = [
    "",
    "ATTEMPT",
    "TESTS",
    "CHANGE",
    "STEPS",
    "COST",
    "TIME",
    "END",
    ...(hasModels ? ["MODEL"] : []),
  ];
  const rows = results.map((one, at) => {
    const paint = one.tests?.passed ? green : one.tests ? red : dim;
    const cost = `${one.costUnknown ? "≥ " : ""}${money(one.cost)}`;
    const cells = [
      paint(testsText(one)),
      sizeText(one),
      String(one.steps),
      cost,
      duration(one.ms),
      endText(one),
    ];
    const mark = at === winner ? green("→") : " ";
    const name = at === winner ? bold(String(at + 1)) : String(at + 1);
    return [mark, name, ...cells, ...(hasModels ? [fit(models[at] ?? "", modelWidth)] : [])];
  });
  return table([head.map((word) => dim(word)), ...rows]);
}

/** Which one, by whom, and why. */
export function verdictText({ winner, by, why }: AttemptsVerdict, { bold }: Palette): string {
  if (winner === undefined) return `No attempt is taken: ${harmless(why)}.`;
  const judge = by === "model" ? "a model" : "the tests";
  return `${bold(`Attempt ${winner + 1}`)} is best, by ${judge}: ${harmless(why).replace(/\.$/, "")}.`;
}

/** How the answer to "did the tests pass" goes into the exit code. */
export function hasFailedTests({ verdict: { winner, results } }: BestOf): boolean {
  return winner !== undefined && results[winner]?.tests?.passed === false;
}
