/** Properties with other cases in each run: what they find becomes an example of its property, or a test of its own. */
import fc from "fast-check";

/** For whoever draws cases by other means. */
export const seed: number = Math.floor(Math.random() * 1e9);

export { fc };
