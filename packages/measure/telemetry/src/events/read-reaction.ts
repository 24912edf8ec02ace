/**
 * Read reaction: classifies a user's reaction to the previous turn by rules; English, and error formats in
 * any language.
 */

export const reactions = ["satisfied", "corrected", "failure-reported", "moved-on", "gave-up"] as const;
export type Reaction = (typeof reactions)[number];

/** A reaction to a turn that needs more work from the user. */
export function isTrouble(reaction: Reaction): boolean {
  return reaction === "corrected" || reaction === "failure-reported" || reaction === "gave-up";
}

/** Characters to read: the relevant part comes first, or is pasted. */
const maxCharacters = 4_000;

/** Typical output of failing programs. */
const pasted: readonly RegExp[] = [
  /^\s*at .+[(:]\S*:\d+/m,
  /Traceback \(most recent call last\)|^\s*File "[^"]+", line \d+/m,
  /\b\w*(?:Error|Exception)(?: \[\w+\])?:|\b[\w.]+(?:Exception|Error)\b\s*(?:\n|$)/,
  /\bpanicked at\b|^panic:|\bsegmentation fault\b|\bcore dumped\b/im,
  /^\s*(?:FAIL|ERROR|FAILED|error)\b[ :[]|\berror (?:TS|E|C)\d+/m,
  /^\s*[✕✖×]\s|\bexpected .+, (?:got|but) /im,
  /\b(?:ECONNRESET|ECONNREFUSED|ENOENT|EACCES|SIGSEGV|ETIMEDOUT)\b/,
];

const gaveUp: readonly RegExp[] = [
  /\bnever ?mind\b|\bforget (?:about )?it\b|\bgiv(?:e|ing) (?:this )?up\b|\bhopeless\b|\buseless\b/,
  /\b(?:do|did|write|fix|fixed|doing|take) (?:it|this) (?:myself|by hand|manually|from here)\b|\bby hand\b/,
  /^(?:please )?(?:just )?(?:enough|stop|abort|quit|cancel|scrap|drop|skip|abandon)\b(?:\W+(?:it|this|that|the (?:whole )?(?:thing|task)|stop)\b)?(?:\W|$)(?!\w)/,
  /^(?:please )?(?:just )?(?:stop|cancel|scrap|drop|skip|abandon|quit) (?:it|this|that)\b|\bplease just stop\b/,
  /\blet'?s (?:drop|leave|not do|forget)\b|\bleave it(?: as it is)?, |\bleave (?:it|that) for another\b/,
  /\bgoing nowhere\b|\bno (?:point|help|use)\b|\bnot worth\b|\bdon'?t bother\b|\bwast(?:e|ed|ing)\b|\bcan'?t do this\b/,
];

const failed: readonly RegExp[] = [
  /\bstill\b(?! (?:keep|want|need|like))/,
  /\b(?:doesn'?t|does not|didn'?t|did not|don'?t|isn'?t|not|won'?t) (?:even )?(?:work|working|compile|build|start|run|do anything|retry|load|respond)\b/,
  /\bnow i (?:get|see)\b|\bi (?:get|see) (?:a|an|no|the same|\d{3}|an? error)\b/,
  /\b(?:fails?|failing|failed|broke|broken|crash\w*|hangs?|stuck|panics?|timed? ?out|timeout|is red|is dead|complains?)\b/,
  /\bsame (?:error|result|problem|issue)\b|\bnothing (?:changed|happens)\b|\bslower than\b|\bwrong (?:now|by|result)\b/,
  /\bexits? with (?:code )?[1-9]|\breturns? (?:an? )?(?:empty|null|undefined|nothing|wrong)\b|\bis a bug\b|\bsince your change\b|\bafter your change\b/,
];

const corrected: readonly RegExp[] = [
  /^(?:no|nope|nah|not|almost|actually|wrong|undo|revert|hmm+|instead)\b(?! (?:complaints|problem|worries))/,
  /\b(?:revert|undo|roll (?:that|it|this)? ?back|put (?:that|it|the \w+)? ?back|take (?:that|it) back)\b/,
  /\bi (?:meant|said|wanted|asked|only wanted|would(?:n'?t| not)|'?d rather)\b|\bi'd rather\b|\bnot what i\b|\bmisunderst/,
  /\b(?:don'?t|do not|stop) (?:use|add|adding|touch|rename|change|cache|remove|delete|make|put)\b|\binstead of\b|\brather than\b/,
  /\byou (?:also |have )?(?:forgot|missed|renamed|removed|deleted|changed|broke|misunderstood)\b|\bwhy did you\b|\bleave it alone\b/,
  /\b(?:it|that|this|the \w+(?: \w+)?) (?:should|has to|must|needs to) (?:be|not|only|throw|return|have|happen)\b|\bshouldn'?t\b|\bnot to be\b|\b(?:has|have|needs?) to be\b/,
  /\btoo (?:complicated|long|much|slow|big|verbose)\b|\bsimpler\b|\bwrong (?:file|approach|place|way|function|one)\b|\bother way\b/,
  /, not (?:\w+ ){0,4}\w+\W*$|\bwithout the\b|\bkeep the\b|^(?:use|no|max|only) /,
];

const satisfied: readonly RegExp[] = [
  /\b(?:thanks|thank you|thx|ty|cheers|danke|merci|gracias)\b|👍|🎉|❤/u,
  /\b(?:perfect|great|awesome|excellent|brilliant|lovely|nice|cool|wow|impressive|well done|good job|lgtm|super|happy with|like it|love it)\b/,
  /\b(?:looks|is|this is) (?:good|right|correct|fine)\b|\b(?:works|fixed it|solved|did the trick|confirmed)\b|\bship it\b|\ball tests pass\b/,
  /^(?:ok(?:ay)?,? )?(?:good|fine|yes|yep|correct|right)\b|\bthat'?s (?:right|correct|it|all)\b|\bfine now\b/,
];

/** A new task that the message introduces. */
const another =
  /^(?:ok(?:ay)?,? )?(?:next|now|then|also|another|let'?s)\b(?!.{0,20}\b(?:get|hangs?|fails?)\b)/;

/** `text` is the original message; none of it is stored. */
export function readReaction(text: string): Reaction {
  const whole = text.slice(0, maxCharacters);
  if (matches(pasted, whole)) return "failure-reported";
  const said = whole.toLowerCase().replaceAll("’", "'").trim();
  if (/^nothing wrong\b|^no (?:complaints|problems?)\b/.test(said)) return "satisfied";
  if (matches(gaveUp, said)) return "gave-up";
  const isNext = another.test(said);
  // Long requests contain words of all kinds.
  const isPraise = matches(satisfied, said.slice(0, 200));
  if (isPraise && !/\b(?:but|still)\b/.test(said) && !matches(failed, said)) return "satisfied";
  if (!isNext && /^(?:no|nope)\b.*\b(?:use|i|you|way|not|start)\b/.test(said) && !/same/.test(said))
    return "corrected";
  if (matches(failed, said) && !isNext) return "failure-reported";
  if (matches(corrected, said) && !isNext) return "corrected";
  return matches(failed, said) ? "failure-reported" : "moved-on";
}

function matches(rules: readonly RegExp[], text: string): boolean {
  return rules.some((rule) => rule.test(text));
}
