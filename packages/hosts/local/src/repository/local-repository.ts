/** The repository port for a folder of this machine: our own code reads its files, so nothing in it runs. */
import { realpathSync } from "node:fs";
import { join, relative, sep } from "node:path";
import type { ChangesQuery, Repository, RepositoryChanges, RepositoryFact } from "@lathe/protocol";
import type { Env } from "@lathe/system";
import type { RepositoryPlace } from "@lathe/system/git";
import { readAliases, readHead } from "@lathe/system/git";
import {
  type FilesOptions,
  findRepository,
  ignoredFolders,
  knownFiles,
  repositoryStatus,
  trackedFiles,
  WalkBudget,
} from "@lathe/system/repository";

/** More than a person works with; reading stops here. */
const maxEntries = 2_000_000;

/** `root`: the workspace. `env`: finds the user's own git settings. */
export function createLocalRepository(root: string, env: Env): Repository {
  type ListFiles = (place: RepositoryPlace, options: FilesOptions) => Promise<readonly string[]>;
  const list = (listFiles: ListFiles, maxMs: number): Promise<RepositoryFact<readonly string[]>> =>
    factOf(root, (place) => listFiles(place, { env, budget: budgetOf(maxMs), folder: realpathSync(root) }));
  return {
    head: () =>
      factOf(root, (place) => {
        const { ref, commit } = readHead(place) ?? {};
        if (ref === undefined && commit === undefined) return "unknown";
        const branch = ref?.replace(/^refs\/heads\//, "");
        return { ...(branch !== undefined && { branch }), ...(commit !== undefined && { commit }) };
      }),
    changes: (query) => factOf(root, (place) => changesOf(place, { root, env, query })),
    trackedFiles: ({ maxMs }) => list(trackedFiles, maxMs),
    knownFiles: ({ maxMs }) => list(knownFiles, maxMs),
    ignoredFolders: ({ maxMs }) => list(ignoredFolders, maxMs),
    aliases: async () => {
      try {
        return readAliases(findRepository(root), env);
      } catch {
        // Settings that git refuses, or a repository that Lathe does not read.
        return "unknown";
      }
    },
  };
}

/** The fact is unknown if anything prevents reading it. */
async function factOf<T>(
  root: string,
  read: (place: RepositoryPlace) => T | Promise<T>,
): Promise<RepositoryFact<T>> {
  try {
    const place = findRepository(root);
    return place ? await read(place) : "none";
  } catch {
    return "unknown";
  }
}

function budgetOf(maxMs: number): WalkBudget {
  return new WalkBudget({ ms: maxMs, entries: maxEntries });
}

interface Asked {
  readonly root: string;
  readonly env: Env;
  readonly query: ChangesQuery;
}

async function changesOf(place: RepositoryPlace, { root, env, query }: Asked): Promise<RepositoryChanges> {
  const below = realpathSync(root);
  const budget = budgetOf(query.maxMs);
  const status = await repositoryStatus(place, {
    env,
    budget,
    ...(query.of === "workspace" && { below }),
  });
  const fromRoot = (path: string): string =>
    relative(below, join(place.top, path)).split(sep).join("/") + (path.endsWith("/") ? "/" : "");
  return { changed: status.changed.map(fromRoot), untracked: status.untracked.map(fromRoot) };
}
