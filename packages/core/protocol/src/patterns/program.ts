/** The program of a pattern: steps that test one character, or lead to other steps without one. */
import type { Part, Pattern } from "./pattern.ts";

/**
 * Tests a character and continues with the next step, or continues with other steps at once. The last step of
 * a program does neither.
 */
export type Step = { readonly test: number } | { readonly to: readonly number[] };

export interface Program {
  readonly steps: readonly Step[];
  /** The tests: a character code, or a class as an expression. */
  readonly tests: readonly (number | RegExp)[];
}

export function programOf(pattern: Pattern): Program {
  const steps: Step[] = [];
  const tests: (number | RegExp)[] = [];
  const known = new Map<number | string, number>();
  const testOf = (key: number | string): number => {
    const found = known.get(key);
    if (found !== undefined) return found;
    tests.push(typeof key === "number" ? key : new RegExp(key, "su"));
    known.set(key, tests.length - 1);
    return tests.length - 1;
  };
  const add = (part: Part): void => {
    switch (part.type) {
      case "text":
        for (const char of part.text) steps.push({ test: testOf(char.codePointAt(0) ?? 0) });
        return;
      case "one":
        steps.push({ test: testOf(part.of) });
        return;
      case "many":
        // Either read one more character and loop, or continue.
        steps.push({ to: [steps.length + 1, steps.length + 3] }, { test: testOf(part.of) });
        steps.push({ to: [steps.length - 2] });
        return;
      case "either":
        addChoices(part.of);
    }
  };
  const addChoices = (choices: readonly Pattern[]): void => {
    const starts: number[] = [];
    const ends: number[][] = [];
    steps.push({ to: starts });
    for (const choice of choices) {
      starts.push(steps.length);
      choice.forEach(add);
      const end: number[] = [];
      ends.push(end);
      steps.push({ to: end });
    }
    for (const end of ends) end.push(steps.length);
  };
  pattern.forEach(add);
  steps.push({ to: [] });
  return { steps, tests };
}
