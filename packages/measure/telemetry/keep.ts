/** The keep rate's own parts, for benchmarks and tests that follow lines themselves. */

export { createAligner } from "./src/keep/align.ts";
export { type FollowedSession, followHistory } from "./src/keep/follow-history.ts";
export { sessionLines } from "./src/keep/session-lines.ts";
export { createTexts } from "./src/keep/text.ts";
export { removedBy, type TrackedLine } from "./src/keep/tracked-line.ts";
