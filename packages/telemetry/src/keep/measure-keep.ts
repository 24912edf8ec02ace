/** Measure keep: the changes whose horizons have come, followed to now through the repository they were made in. */
import type { DatabaseSync } from "node:sqlite";
import { isFailure } from "@lathe/protocol";
import type { ChangeFact } from "../events/facts.ts";
import { type FollowedSession, followHistory } from "./follow-history.ts";
import { branchAt } from "./git-history.ts";
import { type Repository, runGit } from "./git-process.ts";
import {
  type Horizon,
  horizonNames,
  horizons,
  type Observation,
  observedHorizons,
  putObservations,
} from "./observations.ts";
import { isThere, removedBy, type TrackedLine } from "./tracked-line.ts";

export interface KeepSources {
  readonly facts: DatabaseSync;
  readonly observations: DatabaseSync;
  readonly now: number;
  /** The variable PATH, where git is looked for. */
  readonly path: string;
  /** What a version of a file said; undefined where that is lost. */
  readonly textOf: (version: string) => Promise<string | undefined>;
  /** What files were when a session ended; those nobody knows are left out, null where there was none. */
  readonly endsOf: (session: string, paths: readonly string[]) => Promise<ReadonlyMap<string, string | null>>;
  readonly languageOf: (path: string) => string;
}

export interface KeepMeasured {
  readonly changes: number;
  /** Projects whose folder is gone. */
  readonly gone: number;
}

interface DueSession {
  readonly id: string;
  readonly project: string;
  readonly endedAt: number;
  readonly due: readonly Horizon[];
  readonly changes: readonly ChangeFact[];
}

/** *Contract:* reads the repositories only; what was observed once is not observed again. */
export async function measureKeep(sources: KeepSources): Promise<KeepMeasured> {
  const projects = Map.groupBy(dueSessions(sources), ({ project }) => project);
  let [changes, gone] = [0, 0];
  for (const [project, sessions] of projects) {
    const found = await measureProject(sources, project, sessions);
    if (!found) gone += 1;
    changes += found?.length ?? 0;
    putObservations(sources.observations, found ?? []);
  }
  return { changes, gone };
}

function dueSessions({ facts, observations, now }: KeepSources): readonly DueSession[] {
  const observed = observedHorizons(observations);
  const changesOf = facts.prepare("select * from changes where session = ? order by seq, part");
  const sessions = facts
    .prepare(
      "select id, project, updatedAt from sessions s where exists (select 1 from changes where session = s.id) order by updatedAt",
    )
    .all();
  return sessions.flatMap(({ id, project, updatedAt }) => {
    const endedAt = Number(updatedAt);
    const known = observed.get(String(id));
    const due = horizonNames.filter((name) => endedAt + horizons[name] <= now && !known?.has(name));
    if (due.length === 0) return [];
    const changes = changesOf.all(String(id)) as unknown as ChangeFact[];
    return [{ id: String(id), project: String(project), endedAt, due, changes }];
  });
}

async function measureProject(
  sources: KeepSources,
  project: string,
  due: readonly DueSession[],
): Promise<readonly Observation[] | undefined> {
  const place = await repositoryOf({ root: project, path: sources.path });
  if (!place) return undefined;
  const { repository, prefix, tip } = place;
  const sessions: FollowedSession[] = [];
  for (const session of due) sessions.push(await followed(sources, session, prefix));
  const options = { repository, now: sources.now };
  const found = [...(await followHistory({ ...options, sessions, tip, withFiles: true }))];
  // What never came to this branch is looked for on the one it was made on.
  for (const [i, session] of sessions.entries()) {
    const lines = (found[i] ?? []).flat();
    if (tip === undefined || lines.some((line) => line.isCommitted || isThere(line))) continue;
    const branch = await branchAt(repository, session.endedAt);
    const id = branch === undefined ? undefined : await tipOf(repository, `refs/heads/${branch}`);
    if (id === undefined || id === tip) continue;
    const [other] = await followHistory({ ...options, sessions: [session], tip: id, withFiles: false });
    if (other) found[i] = other;
  }
  return due.flatMap((session, i) =>
    session.changes.flatMap((change, n) =>
      observed(sources, { session, change, lines: found[i]?.[n] ?? [] }),
    ),
  );
}

interface Place {
  readonly repository: Repository;
  /** Of the project's paths in it. */
  readonly prefix: string;
  readonly tip: string | undefined;
}

/** Undefined where there is no such folder; a folder without git is its own root. */
async function repositoryOf(folder: Repository): Promise<Place | undefined> {
  const { statSync } = await import("node:fs");
  if (!statSync(folder.root, { throwIfNoEntry: false })?.isDirectory()) return undefined;
  const top = await runGit(folder, ["rev-parse", "--show-toplevel", "--show-prefix"]);
  if (isFailure(top)) return { repository: folder, prefix: "", tip: undefined };
  const [root = folder.root, prefix = ""] = top.split("\n");
  const repository = { ...folder, root };
  return { repository, prefix, tip: await tipOf(repository, "HEAD") };
}

async function tipOf(repository: Repository, name: string): Promise<string | undefined> {
  const id = await runGit(repository, [
    "rev-parse",
    "--verify",
    "--quiet",
    "--end-of-options",
    `${name}^{commit}`,
  ]);
  return isFailure(id) ? undefined : id.trim();
}

async function followed(
  { textOf, endsOf }: KeepSources,
  { id, changes, endedAt }: DueSession,
  prefix: string,
): Promise<FollowedSession> {
  const text = async (version: string | null): Promise<string | null | undefined> =>
    version === null ? null : textOf(version);
  const edits = await Promise.all(
    changes.map(async ({ at, path, from, before, after }) => ({
      at,
      path: prefix + path,
      from: from === null ? null : prefix + from,
      before: await text(before),
      after: await text(after),
    })),
  );
  const ends = await endsOf(id, [...new Set(changes.map(({ path }) => path))]);
  return { endedAt, edits, ends: new Map([...ends].map(([path, end]) => [prefix + path, end])) };
}

interface Followed {
  readonly session: DueSession;
  readonly change: ChangeFact;
  readonly lines: readonly TrackedLine[];
}

/** Also of a change of which nothing was left when its session ended: that it was looked at is noted. */
function observed({ languageOf }: KeepSources, { session, change, lines }: Followed): readonly Observation[] {
  const { id, project, endedAt, due } = session;
  const { seq, part, model, tool, path } = change;
  const language = languageOf(path);
  const folder = path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : ".";
  return due.map((horizon) => {
    const at = endedAt + horizons[horizon];
    const removers = lines.map((line) => removedBy(line, at));
    const kept = lines.filter((_, i) => removers[i] === undefined);
    return {
      ...{ session: id, seq, part, horizon, at, model, tool, language, project, folder },
      lines: lines.length,
      kept: kept.length,
      laidOut: kept.filter(({ laidOutAt }) => laidOutAt !== undefined && laidOutAt <= at).length,
      byUser: removers.filter((remover) => remover === "user").length,
      byAgent: removers.filter((remover) => remover === "agent").length,
    };
  });
}
