/**
 * The repository port: facts that Lathe needs from the workspace's version control. An answer never runs
 * anything of the repository: no hook, filter, monitor, alias or helper. The repository may be on another
 * machine.
 */

/** `none`: the workspace is in no repository. `unknown`: the repository could not be read, or not in time. */
export type RepositoryFact<T> = T | "none" | "unknown";

export interface RepositoryHead {
  /** Absent if HEAD is detached. */
  readonly branch?: string;
  /** Absent before the first commit. */
  readonly commit?: string;
}

/** Paths are relative to the workspace; those above it begin with `../`. */
export interface RepositoryChanges {
  /** Files that differ from the last commit, staged or not. */
  readonly changed: readonly string[];
  /** Untracked files that git does not ignore; an entirely untracked folder ends in a slash. */
  readonly untracked: readonly string[];
}

export interface RepositoryQuery {
  /** Milliseconds. */
  readonly maxMs: number;
}

export interface ChangesQuery extends RepositoryQuery {
  /** Covers the workspace only, or the whole repository if that is larger. */
  readonly of: "workspace" | "repository";
}

export interface Repository {
  /** *Contract:* never rejects; the commit that is checked out. */
  head(): Promise<RepositoryFact<RepositoryHead>>;
  /** *Contract:* never rejects. A file that only a git filter could compare counts as changed. */
  changes(query: ChangesQuery): Promise<RepositoryFact<RepositoryChanges>>;
  /** *Contract:* never rejects; tracked files of the workspace, even if they are missing on disk. */
  trackedFiles(query: RepositoryQuery): Promise<RepositoryFact<readonly string[]>>;
  /** *Contract:* never rejects; files of the workspace that are tracked or not ignored. */
  knownFiles(query: RepositoryQuery): Promise<RepositoryFact<readonly string[]>>;
  /**
   * *Contract:* never rejects; ignored folders of the workspace, each ending in a slash; `./` for the
   * workspace itself.
   */
  ignoredFolders(query: RepositoryQuery): Promise<RepositoryFact<readonly string[]>>;
  /** *Contract:* never rejects; git's aliases by name, from user, machine and repository (if any). */
  aliases(): Promise<Readonly<Record<string, string>> | "unknown">;
}
