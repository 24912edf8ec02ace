/** The search port: exact retrieval over the workspace's files. */
import type { Failure } from "./failure.ts";

/** Where to look, and for which files. */
export interface FilesQuery {
  /** Folder or file, relative to the workspace; the workspace when absent. */
  readonly path?: string;
  /** Glob that files must match. */
  readonly glob?: string;
  /** Globs of files to leave out, told from the workspace; without braces. */
  readonly exclude?: readonly string[];
  /** Files, or matching lines, at most. */
  readonly limit: number;
}

export interface GrepQuery extends FilesQuery {
  /** Regular expression (Rust syntax), or plain text when `literal`. */
  readonly pattern: string;
  readonly literal?: boolean;
  readonly ignoreCase?: boolean;
  /** Lines shown around each match. */
  readonly context?: number;
}

export interface GrepLine {
  readonly path: string;
  readonly line: number;
  readonly text: string;
  /** False for a line of context. */
  readonly match: boolean;
}

export interface FilesResult {
  readonly paths: readonly string[];
  /** True when there were more than `limit`. */
  readonly more: boolean;
  /** Files that only `exclude` kept out, whatever they hold. */
  readonly leftOut: number;
}

export interface GrepResult {
  readonly lines: readonly GrepLine[];
  /** True when there were more matches than `limit`. */
  readonly more: boolean;
  /** Files that only `exclude` kept from being searched, whatever they hold. */
  readonly leftOut: number;
  /** Files of which matches are not shown, since a line of them is too long to be searched. */
  readonly skipped: readonly string[];
}

export interface Search {
  /** *Contract:* .gitignore respected, `.git` never searched, paths sorted; `search-failed` names a bad pattern. */
  grep(query: GrepQuery, signal: AbortSignal): Promise<GrepResult | Failure>;
  /** *Contract:* files whose path matches the glob, .gitignore respected, sorted. */
  files(query: FilesQuery, signal: AbortSignal): Promise<FilesResult | Failure>;
}
