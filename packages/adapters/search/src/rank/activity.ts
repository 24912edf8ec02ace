/** Activity: how often and how lately the commits of a history touched each document. */
import type { Documents } from "../tree/documents.ts";
import type { HistoryPart } from "./history.ts";

export interface Activity {
  /** By document: commits that touched it. */
  readonly commits: Float64Array;
  /** By document: commits since the last that touched it; infinite where none did. */
  readonly age: Float64Array;
  /** By document: commits that touched it, each less the older it is. */
  readonly recent: Float64Array;
  /** For each part the document of each entry of `pathIds`, or -1. */
  readonly documentOf: readonly Int32Array[];
}

/** Commits after which one counts 1/e. */
const fading = 300;

interface CountedParts {
  readonly parts: readonly HistoryPart[];
  readonly activity: Activity;
}

const known = new WeakMap<Documents, CountedParts>();

/** *Contract:* parts are newest first; counted once for the same documents and parts. */
export function activityOf(parts: readonly HistoryPart[], documents: Documents): Activity {
  const before = known.get(documents);
  if (before?.parts === parts) return before.activity;
  const activity = counted(parts, documents);
  known.set(documents, { parts, activity });
  return activity;
}

function counted(parts: readonly HistoryPart[], documents: Documents): Activity {
  const files = documents.files.length;
  const commits = new Float64Array(files);
  const age = new Float64Array(files).fill(Number.POSITIVE_INFINITY);
  const recent = new Float64Array(files);
  let now = 0;
  const documentOf = parts.map((part) => {
    const byPath = part.paths.map((path) => documents.byPath.get(path) ?? -1);
    const docs = Int32Array.from(part.pathIds, (id) => byPath[id] as number);
    for (let commit = 0; commit + 1 < part.firstPaths.length; commit++, now++) {
      const weight = Math.exp(-now / fading);
      for (let at = part.firstPaths[commit] as number; at < (part.firstPaths[commit + 1] as number); at++) {
        const doc = docs[at] as number;
        if (doc < 0) continue;
        commits[doc] = (commits[doc] as number) + 1;
        recent[doc] = (recent[doc] as number) + weight;
        age[doc] = Math.min(age[doc] as number, now);
      }
    }
    return docs;
  });
  return { commits, age, recent, documentOf };
}
