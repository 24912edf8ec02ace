/**
 * Properties: fast-check with the same cases in each run, so that a test result depends on the change and not
 * on luck. `npm test -- --explore` uses other cases.
 */
import fc from "fast-check";

/** For tests that generate cases by other means. */
export const seed: number = 20_261_122;

fc.configureGlobal({ seed });

export { fc };
