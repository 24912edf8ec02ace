/** Whether a rule's glob and a shell glob may match the same path. */
import { matchesPath, plainGlobs } from "./glob.ts";

/**
 * `glob` holds no braces. A floating rule (`**` before a name) does not match a segment that specifies only
 * an extension: `src/*.json` means all files of a kind, not the secret one that may be among them.
 */
export function mayMatch(rule: string, glob: string): boolean {
  if (matchesPath(rule, glob)) return true;
  const segments = segmentsOf(glob);
  return alternativesOf(rule).some(({ one, wanted }) => {
    const floats = one.startsWith("**/");
    if (one.startsWith("/") !== glob.startsWith("/") && !floats) return false;
    return meet(wanted, segments, floats ? floating : anchored);
  });
}

interface Alternative {
  readonly one: string;
  readonly wanted: readonly string[];
}

const alternatives = new Map<string, readonly Alternative[]>();
/** There are fewer rules; the other entries are globs that a model wrote. */
const maxRemembered = 500;

function alternativesOf(rule: string): readonly Alternative[] {
  const known = alternatives.get(rule);
  if (known) return known;
  const made = plainGlobs(rule).map((one) => ({ one, wanted: segmentsOf(one) }));
  if (alternatives.size === maxRemembered) alternatives.clear();
  alternatives.set(rule, made);
  return made;
}

function segmentsOf(glob: string): readonly string[] {
  return glob.split("/").filter((one) => one !== "");
}

interface Meeting<Part> {
  /** Whether an element of the first list matches any run of the second's, or vice versa. */
  isRun(part: Part): boolean;
  isOtherRun(part: Part): boolean;
  fits(one: Part, other: Part): boolean;
}

/** Whether two lists can match the same text. */
function meet<Part>(one: readonly Part[], other: readonly Part[], how: Meeting<Part>): boolean {
  const end = other.length;
  // after[j]: whether the rest of `one` meets `other` from j on.
  let after: boolean[] = [];
  after[end] = true;
  for (let j = end - 1; j >= 0; j--) after[j] = after[j + 1] === true && how.isOtherRun(other[j] as Part);
  for (let i = one.length - 1; i >= 0; i--) {
    const part = one[i] as Part;
    const isRun = how.isRun(part);
    const here: boolean[] = [];
    here[end] = isRun && after[end] === true;
    for (let j = end - 1; j >= 0; j--) {
      const against = other[j] as Part;
      const [alone, both] = [after[j] === true, after[j + 1] === true];
      // A run takes one more of the other list, or ends.
      const byRun = (isRun || how.isOtherRun(against)) && (alone || here[j + 1] === true);
      here[j] = byRun || (both && how.fits(part, against));
    }
    after = here;
  }
  return after[0] === true;
}

const isRun = (segment: string): boolean => segment === "**";
// With globstar, `**` also matches across folders.
const anchored: Meeting<string> = { isRun, isOtherRun: isRun, fits: segmentsMeet };
const floating: Meeting<string> = { isRun, isOtherRun: () => false, fits: floatingMeets };

const vague = /^(?:[*?]|\[[^\]]*\])+(?:\.|$)/u;

/**
 * A rule for all files of a kind matches a glob that specifies the kind, not `d*`, which specifies a name.
 */
function floatingMeets(rule: string, segment: string): boolean {
  const isOfKind = rule.startsWith("*") && /[*?[]/u.test(segment) && !/\.[^.*?[\]]+[^.]*$/u.test(segment);
  return vague.test(segment) || isOfKind ? matchesPath(rule, segment) : segmentsMeet(rule, segment);
}

function segmentsMeet(rule: string, segment: string): boolean {
  // A shell wildcard does not match a leading dot.
  if (rule.startsWith(".") && /^[*?[]/u.test(segment)) return false;
  const [one, other] = [
    rule.match(/\\.|[\s\S]/gu) ?? [],
    segment.match(/\\.|\[[!^]?\]?[^\]]*\]|[\s\S]/gu) ?? [],
  ];
  return meet(one, other, { isRun: isStar, isOtherRun: isStar, fits: charactersMeet });
}

function isStar(part: string): boolean {
  return part === "*";
}

function charactersMeet(rule: string, part: string): boolean {
  if (rule === "?" || part === "?") return true;
  const char = rule.slice(-1);
  // Ranges, classes and negated sets count as a possible match.
  if (part.length > 2) return /^\[[!^]|-|\[:/u.test(part.slice(0, -1)) || part.slice(1, -1).includes(char);
  return char === part.slice(-1);
}
