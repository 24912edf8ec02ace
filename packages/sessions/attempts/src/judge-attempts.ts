/** Chooses the best attempt: by the tests, or by a model's answer if that is usable. */
import {
  type AttemptResult,
  type AttemptsVerdict,
  type Failure,
  hasDoubtfulTests,
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
  const changing = order.filter((at) => (results[at]?.files ?? 0) > 0);
  const hasSure = changing.some((at) => isSure(results[at]));
  const choice = hasSure ? changing.filter((at) => !isDoubtful(results[at])) : changing;
  if (judge === "tests" || choice.length < 2) return byTests;
  const shown = choice.map((attempt) => ({
    attempt,
    diffs: compared[attempt]?.diffs ?? [],
    tests: testsText(results[attempt]),
  }));
  const opinion = await judgeByModel(shown, asking);
  if (!isFailure(opinion)) return { results, by: "model", ...opinion };
  return { ...byTests, why: `${whyNot(opinion)}; without it: ${why}` };
}

/** Once an attempt passes tests that it did not change, a model is not shown attempts that changed them. */
function isSure(result: AttemptResult | undefined): boolean {
  return result?.tests?.passed === true && !isDoubtful(result);
}

function isDoubtful(result: AttemptResult | undefined): boolean {
  return result !== undefined && hasDoubtfulTests(result);
}

function whyNot({ text }: Failure): string {
  return `the model's judgement could not be used (${text})`;
}

function testsText(result: AttemptResult | undefined): string {
  const text = runText(result?.tests);
  const { testFiles } = result ?? {};
  if (!testFiles) return text;
  const changed = `It changed tests or what runs them: ${testFiles.slice(0, 20).join(", ")}.`;
  const originals = result?.originalTests;
  return originals ? `${text} ${changed} As they were: ${runText(originals)}` : `${text} ${changed}`;
}

function runText(tests: TestsRun | undefined): string {
  if (!tests) return "No tests were run.";
  if (tests.passed) return "The tests pass with it.";
  if (tests.problem !== undefined) return `The tests could not be run to their end: ${tests.problem}.`;
  return tests.failures === undefined ? "The tests fail with it." : `${tests.failures} tests fail with it.`;
}
