/** Telling lines: what the output of a failed command says went wrong, without frames and dumps of objects. */
import { lastLines } from "./fit.ts";

/** What test runners and programs begin the reason with, and the line above it that names the test. */
const reason = /^\s*(?:\w*(?:Error|Exception)\b.*:|E {2,}\S|expect\(|panic:|error(?:\[\w+\])?:)/;
const title = /^\s*(?:✖|✗|●|not ok|FAIL)/;
/** TAP puts a few facts between the two. */
const titleDistance = 8;
/** The first frame of a stack, or in TAP the fields below the reason. */
const beyond = /^\s*(?:at .+|code: '.+')/;

/** At most `limit` lines from the last reason to its first frame, else the last ones. */
export function tellingLines(text: string, limit: number): readonly string[] {
  const said = lastLines(text, 1000);
  let start = said.findLastIndex((line) => reason.test(line));
  if (start < 0) return said.slice(-limit);
  while (reason.test(said[start - 1] ?? "")) start--;
  const name = said.slice(Math.max(0, start - titleDistance), start).findLast((line) => title.test(line));
  const length = said.slice(start + 1).findIndex((line) => beyond.test(line));
  const told = said.slice(start, length < 0 ? undefined : start + 1 + length);
  return [...(name === undefined ? [] : [name]), ...told].slice(0, limit);
}
