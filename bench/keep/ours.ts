/** The keep rate's result for commits, each treated as an agent's change. */

import { createBoxedGit } from "@lathe/hosts/tools";
import {
  createAligner,
  createTexts,
  type FollowedSession,
  followHistory,
  sessionLines,
  type TrackedLine,
} from "@lathe/keep-rate";
import { isFailure } from "@lathe/protocol";
import { type ChangedFile, type Commit, textAt } from "./history.ts";

export interface Change {
  readonly commit: Commit;
  readonly files: readonly ChangedFile[];
}

export interface OurLine {
  readonly path: string;
  /** The line's index in the file at that commit, from 0. */
  readonly number: number;
  readonly text: string;
  readonly tracked: TrackedLine;
}

/** The change's lines, followed to `tip`. */
export async function followChange(root: string, change: Change, tip: Commit): Promise<readonly OurLine[]> {
  const session = sessionOf(root, change);
  const git = await createBoxedGit(process.env).open(root);
  if (isFailure(git)) throw new Error(git.text);
  const repository = { root, git };
  const now = Math.max(change.commit.at, tip.committed) + 366 * 86_400_000;
  const options = { repository, sessions: [session], now, tip: tip.id, withFiles: false };
  const [found = []] = await followHistory(options);
  await git.close();
  return placed(session, found);
}

/** A session that ended right before its commit was written. */
function sessionOf(root: string, { commit, files }: Change): FollowedSession {
  const at = commit.at - 1;
  const edits = files.map(({ path, from }) => ({
    ...{ at, path, from },
    before: textAt(root, commit.parent, from ?? path) ?? null,
    after: textAt(root, commit.id, path) ?? null,
  }));
  return { endedAt: at, edits };
}

/** Finds the file and the number of each line. */
function placed({ edits }: FollowedSession, found: readonly (readonly TrackedLine[])[]): readonly OurLine[] {
  const texts = createTexts();
  const textOf = (content: string | null | undefined) => (content ? texts(content) : undefined);
  const written = edits.map(({ path, from, before, after }) => ({
    ...{ path, from },
    before: textOf(before),
    after: textOf(after),
  }));
  const next = edits.map(() => 0);
  return sessionLines(written, createAligner(), () => undefined).flatMap(({ path, text, owner }) =>
    owner.flatMap((edit, number) => {
      if (edit === undefined || text.plain[number] === "") return [];
      const tracked = found[edit]?.[next[edit] ?? 0];
      next[edit] = (next[edit] ?? 0) + 1;
      return tracked ? [{ path, number, text: text.lines[number] ?? "", tracked }] : [];
    }),
  );
}
