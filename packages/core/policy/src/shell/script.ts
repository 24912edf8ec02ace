/** A shell script in a form of policy's own: what the parser's tree says, without the parser. */

/** A part of a word; `quoted`: what it stands for is neither split nor a glob. */
export type Piece =
  | {
      readonly type: "text";
      readonly text: string;
      readonly quoted: boolean;
      /** Nothing in it is special, dollars included. */
      readonly isEscaped?: boolean;
    }
  | { readonly type: "variable"; readonly name: string; readonly quoted: boolean; readonly raw: string }
  /** `$(...)` and backticks. */
  | {
      readonly type: "output";
      readonly body: readonly Statement[];
      readonly quoted: boolean;
      readonly raw: string;
    }
  /** `<(...)` and `>(...)`. */
  | { readonly type: "pipe"; readonly body: readonly Statement[]; readonly raw: string }
  /** Something only the shell can tell; `bodies`: scripts that run to find out. */
  | {
      readonly type: "unknown";
      readonly bodies: readonly (readonly Statement[])[];
      readonly quoted: boolean;
      readonly raw: string;
    };

export interface ShellWord {
  readonly pieces: readonly Piece[];
  /** As written. */
  readonly raw: string;
}

export interface Assignment {
  readonly name: string;
  /** The words of an array; one word otherwise. */
  readonly values: readonly ShellWord[];
  /** `+=`, or one element: what it was before counts too. */
  readonly isPartial: boolean;
  readonly raw: string;
}

export interface ShellRedirect {
  /** For example `>`, `>>`, `<`, `<<<`, `&>`; `<<` for a here-document, whose text is the target. */
  readonly operator: string;
  /** For example `2`. */
  readonly descriptor?: string;
  readonly target: ShellWord;
}

export interface CallStatement {
  readonly type: "call";
  readonly words: readonly ShellWord[];
  readonly assignments: readonly Assignment[];
  readonly redirects: readonly ShellRedirect[];
  readonly raw: string;
}

export type Statement =
  | CallStatement
  | { readonly type: "pipeline"; readonly parts: readonly Statement[] }
  /** `a && b`, `a || b`. */
  | {
      readonly type: "chain";
      readonly operator: "&&" | "||";
      readonly left: readonly Statement[];
      readonly right: readonly Statement[];
    }
  /** Of several bodies any may run, or none. */
  | { readonly type: "branches"; readonly bodies: readonly (readonly Statement[])[] }
  /** `for` has a variable; its values are absent where they are those of the script's arguments. */
  | {
      readonly type: "loop";
      readonly variable?: string;
      readonly values?: readonly ShellWord[];
      readonly body: readonly Statement[];
    }
  | {
      readonly type: "group";
      readonly isSubshell: boolean;
      readonly body: readonly Statement[];
      readonly redirects: readonly ShellRedirect[];
    }
  | { readonly type: "function"; readonly name: string; readonly body: readonly Statement[] };

export interface Script {
  readonly statements: readonly Statement[];
  /** Whether all of the text was understood. */
  readonly isWhole: boolean;
}
