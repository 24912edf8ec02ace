/**
 * Properties: fast-check with the same cases in each run, so that a change is judged by what it does and not by its
 * luck. `npm test -- --explore` draws others.
 */
import fc from "fast-check";

/** For tests that draw cases by other means. */
export const seed: number = 20_261_122;

fc.configureGlobal({ seed });

export { fc };
