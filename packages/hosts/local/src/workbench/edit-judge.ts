/** Edit judge: applies the edit engine to given texts; touches no file. */
import {
  type Applied,
  applyPatch,
  applyReplacements,
  gateSyntax,
  type PatchDialect,
  type Replacement,
} from "@lathe/edits";
import { type Failure, isFailure } from "@lathe/protocol";
import { createSyntax } from "@lathe/syntax";

export interface JudgedEdit {
  /** Determines the language. */
  readonly path: string;
  /** Includes its byte order mark and line endings. */
  readonly content: string;
  readonly edit:
    | { readonly format: "search_replace"; readonly edits: readonly Replacement[] }
    | { readonly format: PatchDialect; readonly patch: string };
}

export interface EditJudge {
  /** *Contract:* pure, except that it loads grammars. */
  apply(edit: JudgedEdit): Promise<Applied | Failure>;
}

export function createEditJudge(): EditJudge {
  const syntax = createSyntax();
  return {
    async apply({ path, content, edit }) {
      const file = { path, text: content };
      const applied =
        edit.format === "search_replace"
          ? applyReplacements(file, edit.edits)
          : applyPatch(file, { patch: edit.patch, dialect: edit.format });
      return isFailure(applied) ? applied : gateSyntax(syntax, { path, before: content, applied });
    },
  };
}
