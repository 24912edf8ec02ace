/** The corpus of edits: texts, edits of them as models write them, and whether what came of one is right. */

export { editCases } from "./src/edit-corpus/corpus.ts";
export { corpusSources, sourcePairs } from "./src/edit-corpus/corpus-sources.ts";
export type { EditAnswer, EditCase } from "./src/edit-corpus/edit-case.ts";
export { formatReport, type Judged, verdictOf } from "./src/edit-corpus/judge.ts";
