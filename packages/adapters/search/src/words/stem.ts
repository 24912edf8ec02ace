/** Light stemming on lower-case bytes: plurals, -ing, -ed, -er, -or, -ion, a last e and a doubled consonant go. */

const a = 97;
const d = 100;
const e = 101;
const g = 103;
const i = 105;
const n = 110;
const o = 111;
const r = 114;
const s = 115;
const t = 116;
const u = 117;
const y = 121;

/** *Contract:* `word[0..length)` is lower case; it may be changed; returns the length of the stem. */
export function stem(word: Uint8Array, length: number): number {
  if (length <= 3) return length;
  const single = withoutPlural(word, length);
  return withoutTail(word, withoutSuffix(word, single));
}

function withoutPlural(word: Uint8Array, length: number): number {
  if (word[length - 1] !== s) return length;
  const before = word[length - 2];
  if (before === s || before === u || before === i) return length;
  if (before === e && word[length - 3] === i && length > 4) {
    word[length - 3] = y;
    return length - 2;
  }
  if (before === e && word[length - 3] === s && word[length - 4] === s) return length - 2;
  return length - 1;
}

function withoutSuffix(word: Uint8Array, length: number): number {
  const before = word[length - 2];
  switch (word[length - 1]) {
    case g:
      return before === n && word[length - 3] === i && length >= 6 ? length - 3 : length;
    case d:
      return before === e && length >= 5 ? withoutTwo(word, length) : length;
    case r:
      return withoutAgent(word, length);
    case n:
      return before === o && length >= 6 ? withoutIon(word, length) : length;
    default:
      return length;
  }
}

function withoutAgent(word: Uint8Array, length: number): number {
  const before = word[length - 2];
  if (before === e) return length >= 6 ? withoutTwo(word, length) : length;
  return before === o && word[length - 3] === t && word[length - 4] === a ? length - 2 : length;
}

/** Without -ed or -er: `copied` and `copier` are of `copy`. */
function withoutTwo(word: Uint8Array, length: number): number {
  if (word[length - 3] === i) word[length - 3] = y;
  return length - 2;
}

function withoutIon(word: Uint8Array, length: number): number {
  const before = word[length - 4];
  return word[length - 3] === i && (before === t || before === s) ? length - 3 : length;
}

function withoutTail(word: Uint8Array, length: number): number {
  const open = word[length - 1] === e && length > 3 ? length - 1 : length;
  const last = word[open - 1] as number;
  const isDoubled = open > 2 && last === word[open - 2] && !isVowel(last);
  return isDoubled ? open - 1 : open;
}

function isVowel(char: number): boolean {
  return char === a || char === e || char === i || char === o || char === u;
}
