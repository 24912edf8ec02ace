/** Files that a script creates and may run later, with their content if known. */

import { type FoundCall, isDiverted } from "../programs/found-call.ts";
import { optionValues, type ProgramCall } from "../programs/program-call.ts";
import type { Environment } from "../shell/environment.ts";
import type { Word } from "../shell/word.ts";

interface MadeFile {
  readonly text: string | undefined;
}

/** `text` is what the call prints. */
export function noteMade(
  { calls, redirects }: FoundCall,
  text: string | undefined,
  { made }: Environment,
): void {
  for (const redirect of redirects.filter(isDiverted)) {
    const isAdding = redirect.operator.includes(">>");
    made.set(plain(redirect.target), { text: isAdding ? undefined : text });
  }
  for (const call of calls) noteCallMade(call, text, made);
}

function noteCallMade(
  { program, args }: ProgramCall,
  text: string | undefined,
  made: Environment["made"],
): void {
  if (isSettingScripts(program, args)) made.set("package.json", { text: undefined });
  if (program === "tee") for (const word of args) made.set(plain(word), { text });
  if (program === "curl" || program === "wget")
    for (const word of fetched(args)) made.set(plain(word), { text: undefined });
}

/** `-o FILE`, also after other letters. */
function fetched(args: readonly Word[]): readonly Word[] {
  const clustered = args.filter((_, i) => /^-[A-Za-z]+[oO]$/u.test(args[i - 1]?.text ?? ""));
  return [...clustered, ...optionValues(args, "-o", "-O", "--output", "--output-document")];
}

/** `npm pkg set scripts.x=...`. */
function isSettingScripts(program: string, args: readonly Word[]): boolean {
  const isSetting = /^(?:npm|pnpm|yarn)$/u.test(program) && /^(?:pkg|set-script)$/u.test(args[0]?.text ?? "");
  return isSetting && args.some(({ text, isLiteral }) => !isLiteral || /^scripts\b|^set-script$/u.test(text));
}

export function madeFile(path: Word, { made }: Environment): MadeFile | undefined {
  return path.isLiteral ? made.get(plain(path)) : undefined;
}

function plain({ text }: Word): string {
  return text.replace(/^(?:\.\/+)+/u, "");
}
