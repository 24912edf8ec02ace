/** The search port: exact and ranked retrieval over the workspace's files. */
import type { Failure } from "../failure.ts";

/** Where to look, and for which files. */
export interface FilesQuery {
  /** Folder or file, relative to the workspace; the workspace when absent. */
  readonly path?: string;
  /**
   * What found paths begin with where `path` is the real absolute one of something outside the workspace, which nobody
   * changes meanwhile; globs to leave out are told from the root then, by either. Not for ranked search and symbols.
   */
  readonly outsideName?: string;
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
  /** Where the pattern matched, from and to before, in UTF-16 units of `text`; none in a line of context, a hundred at most. */
  readonly spans: readonly Span[];
}

/** From, and to before. */
export type Span = readonly [from: number, to: number];

/** Why no file was there to be found or searched: none is, or .gitignore and the like leave out all. */
export type NoFiles = "none" | "ignored";

export interface FilesResult {
  readonly paths: readonly string[];
  /** True when there were more than `limit`. */
  readonly more: boolean;
  /** Files that only `exclude` kept out, whatever they hold. */
  readonly leftOut: number;
  /** Only where a path or a glob was given, and no file is. */
  readonly noFiles?: NoFiles;
}

/** What was not looked into, or is not shown, though it was asked for. */
export interface NotSearched {
  /** Files of which matches are not shown, since a line of them is too long to be searched. */
  readonly skipped: readonly string[];
  /**
   * Files with a match of which no lines are shown, since they are binary. Only the file that was asked for is looked into
   * as a whole, others as far as their first NUL.
   */
  readonly binary: readonly string[];
  /** What ripgrep says of files and folders that it could not search, a line each; the first ones. */
  readonly unsearched: readonly string[];
}

export interface GrepResult extends NotSearched {
  readonly lines: readonly GrepLine[];
  /** True when there were more matches than `limit`. */
  readonly more: boolean;
  /** Files that only `exclude` kept from being searched, whatever they hold. */
  readonly leftOut: number;
  /** Only where a path or a glob was given, and no file is there. */
  readonly noFiles?: NoFiles;
}

/** Kinds of files that ranked search tells apart. */
export const rankedKinds = ["code", "test", "doc"] as const;

export interface RankQuery extends Omit<FilesQuery, "limit"> {
  /** Words, a sentence or a name. */
  readonly query: string;
  /** Only files of this kind; else code comes before tests and documentation. */
  readonly kind?: (typeof rankedKinds)[number];
  /** Files at most. */
  readonly k: number;
}

/** Lines of a file, from 1, inclusive. */
export interface RankedRange {
  readonly path: string;
  readonly startLine: number;
  readonly endLine: number;
  /** Higher is better; only comparable within one answer. */
  readonly score: number;
  /** Why it is there, for people and models. */
  readonly why: string;
  readonly lines: readonly string[];
}

export interface RankResult {
  /** The best range of each file, best first; then further ranges of the same files. */
  readonly ranges: readonly RankedRange[];
  /** Files that only `exclude` kept out, whatever they hold. */
  readonly leftOut: number;
  /** True when the index is still being built: the answer comes from ripgrep, another will be better. */
  readonly partial: boolean;
  /** What did not work, though there is an answer. */
  readonly remark?: string;
}

export interface SymbolsQuery extends FilesQuery {
  /** The definitions and the uses of a name; else the definitions in the file `path`. */
  readonly name?: string;
}

export interface SymbolLine {
  readonly path: string;
  readonly line: number;
  readonly name: string;
  readonly text: string;
  /** Of a definition that its grammar was asked about: the last line, what it is, and what it is in. */
  readonly endLine?: number;
  readonly kind?: string;
  readonly container?: string;
}

export interface SymbolsResult extends NotSearched {
  readonly definitions: readonly SymbolLine[];
  readonly references: readonly SymbolLine[];
  /** Of a name such as `Kettle.boil`: what none of the definitions is known to be in; else those that are come first. */
  readonly notIn?: string;
  /** True when there were more than `limit`. */
  readonly more: boolean;
  readonly leftOut: number;
}

export interface Search {
  /** *Contract:* .gitignore respected, `.git` never searched, paths sorted; `search-failed` names a bad pattern. */
  grep(query: GrepQuery, signal: AbortSignal): Promise<GrepResult | Failure>;
  /** *Contract:* files whose path matches the glob, .gitignore respected, sorted. */
  files(query: FilesQuery, signal: AbortSignal): Promise<FilesResult | Failure>;
  /** *Contract:* what the files hold now: each range was compared with the bytes of its file. */
  rank(query: RankQuery, signal: AbortSignal): Promise<RankResult | Failure>;
  /** *Contract:* definitions and uses as the files hold them now, by path and line. */
  symbols(query: SymbolsQuery, signal: AbortSignal): Promise<SymbolsResult | Failure>;
}
