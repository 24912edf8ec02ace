/**
 * The repository port: what Lathe asks for itself of the version control that a workspace is in. Nothing of the repository
 * runs for an answer: no hook, filter, monitor, alias or helper. The repository may be on another machine.
 */

/** `none`: the workspace is in no repository. `unknown`: it is in one that cannot be read, or not in the time given. */
export type RepositoryFact<T> = T | "none" | "unknown";

export interface RepositoryHead {
  /** Absent where a commit is checked out by itself. */
  readonly branch?: string;
  /** Absent before the first commit. */
  readonly commit?: string;
}

/** Paths are from the workspace; what is above it begins with `../`. */
export interface RepositoryChanges {
  /** Files that differ from the last commit, staged or not. */
  readonly changed: readonly string[];
  /** Files that are not tracked and not ignored; a folder of such has a slash at its end. */
  readonly untracked: readonly string[];
}

export interface RepositoryQuery {
  /** Milliseconds. */
  readonly maxMs: number;
}

export interface ChangesQuery extends RepositoryQuery {
  /** Of the workspace alone, or of the whole repository where that is larger. */
  readonly of: "workspace" | "repository";
}

export interface Repository {
  /** *Contract:* never rejects; which commit is checked out. */
  head(): Promise<RepositoryFact<RepositoryHead>>;
  /** *Contract:* never rejects. A file of which only a filter could tell whether it differs counts as changed. */
  changes(query: ChangesQuery): Promise<RepositoryFact<RepositoryChanges>>;
  /** *Contract:* never rejects; tracked files of the workspace, whether or not they are there. */
  trackedFiles(query: RepositoryQuery): Promise<RepositoryFact<readonly string[]>>;
  /** *Contract:* never rejects; files of the workspace that are tracked, or neither tracked nor ignored. */
  knownFiles(query: RepositoryQuery): Promise<RepositoryFact<readonly string[]>>;
  /** *Contract:* never rejects; ignored folders of the workspace, with a slash at their end; `./` for the workspace itself. */
  ignoredFolders(query: RepositoryQuery): Promise<RepositoryFact<readonly string[]>>;
  /** *Contract:* never rejects; git's aliases by name, of the user, the machine and the repository, if there is one. */
  aliases(): Promise<Readonly<Record<string, string>> | "unknown">;
}
