/** Refusals of a rewind: what would be lost by it, or is lost already. */
import { type Failure, failure } from "@lathe/protocol";
import type { Whose } from "./spans.ts";

const pathsNamed = 10;
const anyway = "To do it all the same: --force";

/** A session that did not let go of the files leaves nothing to tell its changes from somebody else's. */
export const cutOff: Failure = failure(
  "stale-version",
  "its last turn or rewind was cut off, so its changes cannot be told from yours: look at `lathe sessions diff`.",
  { who: "user" },
);

/** `changed`: the paths that would go back and changed in spans that are not the session's own. */
export function refuseLoss(changed: Readonly<Record<Whose, ReadonlySet<string>>>): Failure | undefined {
  const theirs = [...changed.others];
  const doubtful = [...changed.anybody].filter((path) => !changed.others.has(path));
  const parts = [
    ...(theirs.length > 0 ? [`somebody changed ${named(theirs)} while the session was not at work`] : []),
    ...(doubtful.length > 0
      ? [`${named(doubtful)} changed while nobody watched, by the session or by somebody else`]
      : []),
  ];
  if (parts.length === 0) return undefined;
  const text = `${parts.join(", and ")}; that would be lost, so nothing was done.`;
  return failure("stale-version", text, { who: "user" });
}

function named(paths: readonly string[]): string {
  const more = paths.length > pathsNamed ? ` and ${paths.length - pathsNamed} more` : "";
  return paths.slice(0, pathsNamed).join(", ") + more;
}

/** What the store of checkpoints says, in words for whoever wanted the rewind. */
export function explainRefusal(found: Failure): Failure {
  if (found.code === "stale-version") return { ...found, text: `${found.text} ${anyway}` };
  if (found.code !== "not-found") return found;
  const text =
    "its checkpoints are gone: the store had to make room for newer ones. The conversation can go back alone: --conversation";
  return { ...found, text, who: "user" };
}
