/** All steps: runs every cleanup step, even if an earlier one throws. */

/** *Contract:* runs the steps one after another; after the last it throws the first error. */
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
