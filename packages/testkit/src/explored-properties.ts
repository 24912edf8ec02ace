/** Properties with other cases in each run: what they find becomes an example of its property, or a test of its own. */
import fc from "fast-check";

export { fc };
