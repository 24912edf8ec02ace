/** The edit corpus: texts, edits to them as models write them, and a judge for the results. */

export { editCases } from "./src/edit-corpus/corpus.ts";
export { corpusSources, sourcePairs } from "./src/edit-corpus/corpus-sources.ts";
export type { EditAnswer, EditCase } from "./src/edit-corpus/edit-case.ts";
export { formatReport, type Judged, verdictOf } from "./src/edit-corpus/judge.ts";
