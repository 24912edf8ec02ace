/** Files that a script makes and may run later: what is in them, where that can be told. */
import type { Environment } from "./environment.ts";
import { type FoundCall, isDiverted } from "./found-call.ts";
import { optionValues } from "./program-call.ts";
import type { Word } from "./word.ts";

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
  for (const { program, args } of calls) {
    if (program === "tee") for (const word of args) made.set(plain(word), { text });
    const isFetching = program === "curl" || program === "wget";
    const targets = isFetching ? optionValues(args, "-o", "-O", "--output", "--output-document") : [];
    for (const word of targets) made.set(plain(word), { text: undefined });
  }
}

export function madeFile(path: Word, { made }: Environment): MadeFile | undefined {
  return path.isLiteral ? made.get(plain(path)) : undefined;
}

function plain({ text }: Word): string {
  return text.replace(/^(?:\.\/+)+/u, "");
}
