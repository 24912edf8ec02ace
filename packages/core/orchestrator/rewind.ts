/** Rewinding a session: the target, what would be lost, and the events of the rewind. */

export { rewindDrafts, undoDrafts } from "./src/rewind/drafts.ts";
export { explainRefusal, refuseLoss } from "./src/rewind/refusals.ts";
export { type Span, spansOf, type Whose } from "./src/rewind/spans.ts";
export { knownEnd, type RewindParts, targetOf } from "./src/rewind/target.ts";
