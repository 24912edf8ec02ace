/** Outcomes: the result of each test in several runs before and after a fix, and the conclusion. */

export type Outcome = "passed" | "skipped" | "failed";

export interface TestRun {
  readonly tests: Readonly<Record<string, Outcome>>;
  /** Messages of failing tests. */
  readonly said: Readonly<Record<string, string>>;
}

export interface Due {
  readonly failToPass: readonly string[];
  readonly passToPass: readonly string[];
}

export type Judged = { readonly due: Due } | { readonly why: string };

/** All runs must agree: tests that vary are omitted, and none may pass before and fail after. */
export function judge(before: readonly TestRun[], after: readonly TestRun[]): Judged {
  const always = (runs: readonly TestRun[], name: string, outcome: Outcome): boolean =>
    runs.every(({ tests }) => Object.hasOwn(tests, name) && tests[name] === outcome);
  const names = [...new Set([...before, ...after].flatMap(({ tests }) => Object.keys(tests)))].sort();
  const failToPass = names.filter((name) => always(before, name, "failed") && always(after, name, "passed"));
  const passToPass = names.filter((name) => always(before, name, "passed") && always(after, name, "passed"));
  const broken = names.filter((name) => always(before, name, "passed") && always(after, name, "failed"));
  if (broken.length > 0) return { why: `the fix breaks what passed before, such as ${broken[0]}` };
  if (failToPass.length === 0) return { why: whyNone(before, after) };
  return { due: { failToPass, passToPass } };
}

function whyNone(before: readonly TestRun[], after: readonly TestRun[]): string {
  const failing = (run: TestRun | undefined): readonly string[] =>
    Object.entries(run?.tests ?? {}).flatMap(([name, outcome]) => (outcome === "failed" ? [name] : []));
  const [first] = before;
  const failed = failing(first);
  if (Object.keys(first?.tests ?? {}).length === 0) return "no test ran";
  if (failed.length === 0) return "its tests pass without the fix";
  const still = failing(after[0]);
  if (failed.every((name) => !Object.hasOwn(after[0]?.tests ?? {}, name)))
    return "its tests cannot be loaded without the fix";
  return failed.some((name) => still.includes(name))
    ? `its tests fail with the fix too, such as ${failed.find((name) => still.includes(name))}`
    : "its tests do not end the same way each time";
}
