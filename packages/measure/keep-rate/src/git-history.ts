/** Git history: the commits of one line of development, with the files each of them changed. */
import { type Failure, isFailure } from "@lathe/protocol";
import { askGit, type Repository } from "./read-blobs.ts";

export interface CommittedFile {
  readonly path: string;
  readonly from?: string;
  /** Object names; undefined where there is no regular file, but nothing, a link or a submodule. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

export interface Commit {
  readonly id: string;
  /** When it came to exist in this repository, in milliseconds since the epoch. */
  readonly at: number;
  /** Its commit date, which a rebase sets anew. */
  readonly latest: number;
  readonly writtenAt: number;
  /** Non-decreasing along the history: events before this time are replayed before the commit. */
  readonly order: number;
  readonly files: readonly CommittedFile[];
}

const mark = "\u0001";
const slackMs = 3 * 24 * 3_600_000;

/**
 * From the oldest to the newest, along first parents: a merge is one step, like a squash. Commits older than `since` are left
 * out.
 */
export async function readHistory(
  repository: Repository,
  { tip, since }: { readonly tip: string; readonly since: number },
): Promise<readonly Commit[] | Failure> {
  const from = Math.floor((since - slackMs) / 1000);
  const listed = await askGit(repository, [
    "log",
    "--first-parent",
    "--diff-merges=first-parent",
    "--raw",
    "--no-abbrev",
    "-M",
    "-z",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--reverse",
    `--since=${Math.max(0, from)}`,
    `--format=${mark}%H %ct %at %ce %ae`,
    "--end-of-options",
    tip,
    "--",
  ]);
  if (isFailure(listed)) return listed;
  const commits = listed.split(mark).slice(1).map(readCommit);
  let order = Number.POSITIVE_INFINITY;
  return commits
    .reverse()
    .map((commit) => {
      order = Math.min(order, commit.latest);
      return { ...commit, order };
    })
    .reverse();
}

function readCommit(text: string): Omit<Commit, "order"> {
  const fields = text.replace(/^\n/, "").split("\0");
  const [id = "", committed = "0", authored = "0", ...people] = (fields[0] ?? "").trim().split(" ");
  const [committer, author] = people;
  // A person who rebases or amends their own commits had them before; commits of others came with the merge.
  const isOwn = committer === author && Number(authored) < Number(committed);
  const [writtenAt, latest] = [Number(authored) * 1000, Number(committed) * 1000];
  return { id, at: isOwn ? writtenAt : latest, latest, writtenAt, files: readFiles(fields.slice(1)) };
}

function readFiles(fields: readonly string[]): readonly CommittedFile[] {
  const files: CommittedFile[] = [];
  for (let i = 0; i < fields.length; i++) {
    const field = (fields[i] ?? "").trim();
    if (!field.startsWith(":")) continue;
    const [oldMode = "", newMode = "", before = "", after = "", status = ""] = field.slice(1).split(" ");
    const isMoved = status.startsWith("R") || status.startsWith("C");
    const first = fields[++i] ?? "";
    const path = isMoved ? (fields[++i] ?? "") : first;
    const versions = { before: textObject(oldMode, before), after: textObject(newMode, after) };
    files.push({ path, ...(status.startsWith("R") && { from: first }), ...versions });
  }
  return files;
}

function textObject(mode: string, id: string): string | undefined {
  return mode.startsWith("100") ? id : undefined;
}

/** The branch that was checked out at a time, by the reflog of HEAD; undefined where the reflog does not say. */
export function branchAt({ git }: Repository, at: number): string | undefined {
  const moves = (git?.headMoves() ?? "").split("\n").flatMap((line) => {
    const found = / (\d+) [-+]\d{4}\tcheckout: moving from (\S+) to (\S+)$/.exec(line);
    return found ? [{ at: Number(found[1]) * 1000, from: found[2], to: found[3] }] : [];
  });
  const last = moves.findLast((move) => move.at <= at);
  return last ? last.to : moves[0]?.from;
}
