/** The code that a call of an interpreter or a compiler runs: from its arguments, its input, or a file. */

import type { Input } from "../programs/inner.ts";
import { compiledFiles, interpreterOf } from "../programs/interpreters.ts";
import { callText, type ProgramCall } from "../programs/program-call.ts";
import type { Environment } from "../shell/environment.ts";
import type { Known, Wanted } from "../shell/known.ts";
import type { Word } from "../shell/word.ts";
import { fileText } from "./file-text.ts";
import { madeFile } from "./made-files.ts";

/** Text of a language, or what cannot be told. */
export type FoundCode =
  | { readonly type: "code"; readonly text: string; readonly isProject: boolean }
  | { readonly type: "undecided"; readonly what: string };

interface Place {
  readonly walk: { readonly known: Known; readonly wanted: Wanted };
  readonly environment: Environment;
  readonly input: Input | undefined;
}

export function codeOf(call: ProgramCall, place: Place): readonly FoundCode[] {
  if (call.isUndecided) return [];
  const interpreted = interpreterOf(call);
  if (!interpreted) return compiledCode(call, place);
  const { input } = place;
  const { code, isFed, file } = interpreted;
  const given = code.flatMap(({ text, isLiteral }): readonly FoundCode[] => [
    ...(!isLiteral && /^\s*[$`]/u.test(text) ? [undecided(callText(call))] : []),
    typed(text),
  ]);
  const fed =
    isFed && input
      ? [input.text === undefined ? undecided(`what ${call.program} is fed with`) : typed(input.text)]
      : [];
  return [...given, ...fed, ...(file ? codeInFile(file, call, place) : [])];
}

function codeInFile(file: Word, call: ProgramCall, place: Place): readonly FoundCode[] {
  const made = madeFile(file, place.environment);
  const isTold = file.isLiteral && !/^https?:/u.test(file.text) && (!made || made.text !== undefined);
  const doubt = isTold ? [] : [undecided(callText(call))];
  const text = made ? made.text : fileText(file, place);
  return text === undefined ? doubt : [...doubt, { type: "code", text, isProject: !made }];
}

/** Of what is compiled, only what the script has written itself is read: the rest is the project's. */
function compiledCode(call: ProgramCall, { environment, input }: Place): readonly FoundCode[] {
  return compiledFiles(call).flatMap((word): readonly FoundCode[] => {
    if (word.text === "-")
      return input ? [input.text === undefined ? undecided(callText(call)) : typed(input.text)] : [];
    const made = madeFile(word, environment);
    if (!made) return [];
    return [made.text === undefined ? undecided(callText(call)) : typed(made.text)];
  });
}

function typed(text: string): FoundCode {
  return { type: "code", text, isProject: false };
}

function undecided(what: string): FoundCode {
  return { type: "undecided", what };
}
