/** Whether a path matches one of many globs, asked of each file of a tree: what names and folders say is remembered. */
import { either, type Pattern } from "@lathe/protocol/pattern";
import { patternMatcher } from "@lathe/protocol/pattern/matcher";
import { globForm, globMatcher } from "./glob.ts";

export type GlobsMatcher = (path: string) => boolean;

/** Lists of globs that are kept: a session has one or two. */
const maxLists = 8;
/** Names, and folders, whose answers are kept of a list. */
const maxAnswers = 100_000;

const lists = new Map<string, GlobsMatcher>();

/** The same as to ask `globMatcher` of each; one function for each list, as long as it is kept. Throws where one is no glob. */
export function anyGlobMatcher(globs: readonly string[]): GlobsMatcher {
  // No path and no glob has this in it.
  const key = globs.join("\0");
  const known = lists.get(key);
  if (known) return known;
  const made = matcherOf(globs);
  if (lists.size >= maxLists) lists.clear();
  lists.set(key, made);
  return made;
}

function matcherOf(globs: readonly string[]): GlobsMatcher {
  const [names, folders]: [Pattern[], Pattern[]] = [[], []];
  const others: GlobsMatcher[] = [];
  for (const glob of globs) {
    const { speaksOf, pattern } = globForm(glob);
    if (speaksOf === "names") names.push(pattern);
    else if (speaksOf === "folders") folders.push(pattern);
    else others.push(globMatcher(glob));
  }
  const isNamed = remembered(names);
  const isInFolder = remembered(folders);
  return (path) => {
    const at = path.lastIndexOf("/") + 1;
    // Of a folder it counts that something is in it.
    return isNamed(path.slice(at)) || isInFolder(`${path.slice(0, at)}_`) || others.some((one) => one(path));
  };
}

function remembered(patterns: readonly Pattern[]): GlobsMatcher {
  if (patterns.length === 0) return () => false;
  const matches = patternMatcher([either(...patterns)]);
  const answers = new Map<string, boolean>();
  return (text) => {
    const known = answers.get(text);
    if (known !== undefined) return known;
    if (answers.size >= maxAnswers) answers.clear();
    const answer = matches(text);
    // A copy: a piece of what ripgrep printed would keep all of it.
    answers.set(Buffer.from(text).toString(), answer);
    return answer;
  };
}
