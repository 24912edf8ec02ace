/** The search port: exact retrieval over the workspace's files. */
import type { Failure } from "./failure.ts";

export interface GrepQuery {
  /** Regular expression (Rust syntax), or plain text when `literal`. */
  readonly pattern: string;
  readonly literal?: boolean;
  readonly ignoreCase?: boolean;
  /** Folder or file, relative to the workspace; the workspace when absent. */
  readonly path?: string;
  /** Glob that files must match. */
  readonly glob?: string;
  /** Lines shown around each match. */
  readonly context?: number;
  /** Matching lines at most. */
  readonly limit: number;
}

export interface GrepLine {
  readonly path: string;
  readonly line: number;
  readonly text: string;
  /** False for a line of context. */
  readonly match: boolean;
}

export interface GrepResult {
  readonly lines: readonly GrepLine[];
  /** True when there were more matches than `limit`. */
  readonly more: boolean;
}

export interface Search {
  /** *Contract:* .gitignore respected, `.git` never searched, paths sorted; `search-failed` names a bad pattern. */
  grep(query: GrepQuery, signal: AbortSignal): Promise<GrepResult | Failure>;
  /** *Contract:* files whose path matches the glob, .gitignore respected, sorted. */
  files(
    query: { readonly glob?: string; readonly path?: string; readonly limit: number },
    signal: AbortSignal,
  ): Promise<{ readonly paths: readonly string[]; readonly more: boolean } | Failure>;
}
