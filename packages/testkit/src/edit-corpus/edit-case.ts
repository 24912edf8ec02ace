/** One judged edit: the request that an engine gets, and the only correct answer. */

export type EditFormat = "search_replace" | "v4a" | "udiff";

export const editFormats: readonly EditFormat[] = ["search_replace", "v4a", "udiff"];

export interface StringEdit {
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean;
}

/** `edits` for search and replace, `patch` for the other two; `content` is the file with its BOM and line endings. */
export interface EditRequest {
  readonly id: string;
  readonly path: string;
  readonly content: string;
  readonly format: EditFormat;
  readonly edits?: readonly StringEdit[];
  readonly patch?: string;
}

export type EditAnswer =
  | { readonly id: string; readonly ok: true; readonly content: string }
  | { readonly id: string; readonly ok: false; readonly code: string; readonly error: string };

/** The exact bytes, or a refusal. With `orRefuse` both are right: only different content is wrong. */
export type Expectation = { readonly content: string; readonly orRefuse?: true } | { readonly refuse: true };

export interface EditCase {
  readonly request: EditRequest;
  readonly expect: Expectation;
  readonly corruption: string;
  readonly source: string;
  readonly language: string;
}

/** Two versions of one real file. */
export interface FilePair {
  readonly path: string;
  readonly before: string;
  readonly after: string;
  readonly source: string;
}
