/** Which attempt is taken: by its tests, or as a model says where that can be used. */
import {
  type AttemptResult,
  type AttemptsVerdict,
  type Failure,
  isFailure,
  type Judge,
  type TestsRun,
} from "@lathe/protocol";
import { type Asking, judgeByModel } from "./judge-by-model.ts";
import { rankAttempts } from "./rank-attempts.ts";

export interface Compared {
  readonly result: AttemptResult;
  readonly diffs: readonly string[];
}

export async function judgeAttempts(
  compared: readonly Compared[],
  judge: Judge,
  asking: Asking,
): Promise<AttemptsVerdict> {
  const results = compared.map(({ result }) => result);
  const { order, why } = rankAttempts(results);
  const [first] = order;
  const byTests = { results, by: "tests", why, ...(first !== undefined && { winner: first }) } as const;
  const choice = order.filter((at) => (results[at]?.files ?? 0) > 0);
  if (judge === "tests" || choice.length < 2) return byTests;
  const shown = choice.map((attempt) => ({
    attempt,
    diffs: compared[attempt]?.diffs ?? [],
    tests: testsText(results[attempt]?.tests),
  }));
  const opinion = await judgeByModel(shown, asking);
  if (!isFailure(opinion)) return { results, by: "model", ...opinion };
  return { ...byTests, why: `${whyNot(opinion)}; without it: ${why}` };
}

function whyNot({ text }: Failure): string {
  return `the model's judgement could not be used (${text})`;
}

function testsText(tests: TestsRun | undefined): string {
  if (!tests) return "No tests were run.";
  if (tests.passed) return "The tests pass with it.";
  if (tests.problem !== undefined) return `The tests could not be run to their end: ${tests.problem}.`;
  return tests.failures === undefined ? "The tests fail with it." : `${tests.failures} tests fail with it.`;
}
