/** All steps: what must happen at the end happens, whatever became of the step before. */

/** *Contract:* runs one after the other; throws what was thrown first, after the last. */
export async function allSteps(steps: readonly (() => unknown)[]): Promise<void> {
  const thrown: unknown[] = [];
  for (const step of steps) {
    try {
      await step();
    } catch (cause) {
      thrown.push(cause);
    }
  }
  if (thrown.length > 0) throw thrown[0];
}
