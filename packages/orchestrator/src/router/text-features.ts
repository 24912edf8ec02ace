/** Text features: what can be seen of a request without understanding it, as numbers by name. */
import { lexicon } from "./lexicon.ts";

export type Features = Readonly<Record<string, number>>;

/** Longer requests say nothing more for this purpose, and would take time. */
const mostCharacters = 4000;

const trace =
  /^\s*(?:at \S+.*[:(]\d+|File ".+", line \d+|\S+Error: |\S*Exception: |panic: |goroutine \d+|Traceback|error(?:\[\w+\])?: |\tat )/m;
const path = /(?:[\w@.-]+\/)*[\w@-]+\.[a-z]{1,5}\b(?::\d+)?|\b(?:[\w.-]+\/){1,}[\w.-]*/gi;
const place = /\b[\w/.-]+\.[a-z]{1,4}:\d+|\bline \d+|\b[Ii]n [`"]?\w+[`"]?\(\)|\b\w+\(\)/;
/** A word per run of letters; scripts without spaces count a word for two signs. */
const words = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]{1,2}|[\p{L}\p{N}_'-]+/gu;
const foreign =
  /[äöüßéèêçñ¿ãõ\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Cyrillic}]/iu;

/** Names are those of the weights; what is absent is 0. */
export function textFeatures(request: string): Features {
  const text = request.slice(0, mostCharacters).trim();
  const length = text.match(words)?.length ?? 0;
  const files = new Set(text.match(path) ?? []).size;
  const found: Record<string, number> = {
    length: Math.log2(1 + length),
    ...when("short", length <= 6),
    ...when("long", length > 22),
    ...when("lines", text.includes("\n")),
    ...when("trace", trace.test(text)),
    ...when("file", files === 1),
    ...when("files", files > 1),
    ...when("place", place.test(text)),
    ...when("question", text.endsWith("?")),
    ...when("foreign", foreign.test(text)),
    ...when("figures", (text.match(/\d+/g)?.length ?? 0) >= 2),
  };
  for (const [name, pattern] of Object.entries(lexicon)) {
    const times = Math.min(2, text.match(pattern)?.length ?? 0);
    if (times > 0) found[name] = times;
  }
  return found;
}

function when(name: string, is: boolean): Features {
  return is ? { [name]: 1 } : {};
}
