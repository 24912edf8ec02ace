/** What is said to who wants what only an agent at rest can do. */
import { type Failure, failure } from "@lathe/protocol";

export const atWork: Failure = failure("invalid-arguments", "the agent is at work: press Esc first", {
  who: "user",
});
