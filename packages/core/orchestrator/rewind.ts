/** Rewinding a session: where to, what is lost, and the events that do it. */

export { rewindDrafts, undoDrafts } from "./src/rewind/drafts.ts";
export { explainRefusal, refuseLoss } from "./src/rewind/refusals.ts";
export { type Span, spansOf, type Whose } from "./src/rewind/spans.ts";
export { knownEnd, type RewindParts, targetOf } from "./src/rewind/target.ts";
