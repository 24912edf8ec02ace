/** Redactor: removes keys and passwords from text that reaches a log, a blob, a person or a model. */
import { argumentRules } from "./argument-rules.ts";
import { type LiteralSecrets, literalSecrets } from "./literal-secrets.ts";
import { namedAnchor, namedSecretsIn } from "./named-secret.ts";
import { placeholderFor } from "./placeholder.ts";
import { isRealKey, type SecretRule } from "./secret-rule.ts";
import { secretRules } from "./secret-rules.ts";
import { openSpread, type SecretValue, spreadHits } from "./spread-secrets.ts";

export interface RedactorOptions {
  /** Values to remove wherever they occur, also in base64, URL and JSON spelling. */
  readonly values?: readonly SecretValue[];
  /**
   * *Contract:* four hex digits of a keyed hash, so that a reader can distinguish two secrets but cannot test
   * guesses without the key. Absent: the placeholder names only the kind.
   */
  readonly fingerprint?: (secret: string) => string;
}

export interface Redaction {
  readonly kind: string;
  /** The position of the secret in the given text. */
  readonly at: number;
  readonly length: number;
}

export interface Redacted {
  readonly text: string;
  readonly found: readonly Redaction[];
}

/** *Contract:* pure, in time linear in the text; redacting its result again changes nothing. */
export interface Redactor {
  (text: string): Redacted;
  /**
   * *Contract:* the position from which the end of the text may begin a known value; otherwise the text's
   * length.
   */
  readonly openAt: (text: string) => number;
}

/** *Contract:* gives the redactor's result, and pauses between slices of the work. */
export type SlicedRedactor = (text: string) => Promise<Redacted>;

/**
 * *Contract:* called after each slice of the work, which takes a few milliseconds at most; undefined if no
 * pause is due.
 */
export type Pause = () => Promise<unknown> | undefined;

interface Hit extends Redaction {
  /** The input of the fingerprint. */
  readonly secret: string;
}

const rules: readonly SecretRule[] = [...secretRules, ...argumentRules];
/** One group per rule. */
const anchors: RegExp = new RegExp(rules.map(({ anchor }) => `(${anchor})`).join("|"), "g");
const names: RegExp = new RegExp(namedAnchor, "gi");

export function createRedactor(options: RedactorOptions = {}): Redactor {
  const literals = literalSecrets(options.values ?? []);
  const redact = (text: string): Redacted => {
    const hits: Hit[] = [];
    for (const hit of hitsIn(text, literals)) if (hit) hits.push(hit);
    return redacted(text, hits, options);
  };
  return Object.assign(redact, { openAt: (text: string) => openSpread(text, literals.spread) });
}

/** For texts of any length, in a process that has other work to do. */
export function createSlicedRedactor(options: RedactorOptions, pause: Pause): SlicedRedactor {
  const literals = literalSecrets(options.values ?? []);
  return async (text) => {
    const hits: Hit[] = [];
    for (const hit of hitsIn(text, literals)) {
      if (hit) hits.push(hit);
      else await pause();
    }
    return redacted(text, hits, options);
  };
}

function redacted(text: string, hits: readonly Hit[], { fingerprint }: RedactorOptions): Redacted {
  if (hits.length === 0) return { text, found: [] };
  const kept = withoutOverlaps(hits);
  let at = 0;
  let clean = "";
  for (const hit of kept) {
    clean += text.slice(at, hit.at) + placeholderFor(hit.kind, fingerprint?.(hit.secret));
    at = hit.at + hit.length;
  }
  return {
    text: clean + text.slice(at),
    found: kept.map(({ kind, at: start, length }) => ({ kind, at: start, length })),
  };
}

/** Yields hits as they are found; undefined after each slice of the work. */
type Hits = Generator<Hit | undefined, void>;

/** Positions checked in one slice. */
const slice = 256;

function* hitsIn(text: string, literals: LiteralSecrets): Hits {
  yield* literalHits(text, literals);
  yield* shapedHits(text);
  yield* namedHits(text);
}

function* literalHits(text: string, { pattern, of, spread }: LiteralSecrets): Hits {
  if (!pattern) return;
  for (const hit of spreadHits(text, spread))
    yield hit && { kind: slug(hit.value.name), at: hit.at, length: hit.length, secret: hit.value.value };
  yield undefined;
  let looked = 0;
  for (const { 0: spelling, index } of text.matchAll(pattern)) {
    const { name, value } = of.get(spelling) ?? { name: "secret", value: spelling };
    yield { kind: slug(name), at: index, length: spelling.length, secret: value };
    looked += 1;
    if (looked % slice === 0) yield undefined;
  }
}

function slug(name: string): string {
  return (
    name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-|-$/g, "") || "secret"
  );
}

function* shapedHits(text: string): Hits {
  let from = 0;
  for (let looked = 1; ; looked += 1) {
    // Another text may have used the expression between two slices.
    anchors.lastIndex = from;
    const match = anchors.exec(text);
    if (!match) return;
    from = anchors.lastIndex;
    const rule = rules[match.indexOf(match[0], 1) - 1];
    const hit = rule && shapedHit(text, match.index, rule);
    if (hit) {
      yield hit;
      // Another secret may be between the start of the match and the secret.
      if (hit.at === match.index) from = hit.at + hit.length;
      if (hit.kind === "aws-access-key-id") yield* secretNear(text, hit.at + hit.length);
    }
    if (looked % slice === 0) yield undefined;
  }
}

function shapedHit(text: string, at: number, { kind, shape, check, inWord }: SecretRule): Hit | undefined {
  if (!inWord && isInWord(text, at)) return undefined;
  shape.lastIndex = at;
  const match = shape.exec(text);
  if (!match) return undefined;
  const secret = match.groups?.secret ?? match[0];
  if (check && !check(secret)) return undefined;
  return { kind, at: at + match[0].lastIndexOf(secret), length: secret.length, secret };
}

/** An escaped line break ends a word, too. */
function isInWord(text: string, at: number): boolean {
  if (at === 0 || !/\w/.test(text.charAt(at - 1))) return false;
  return !(text.charAt(at - 2) === "\\" && /[nrt]/.test(text.charAt(at - 1)));
}

/** How far after an AWS key ID its secret is searched. */
const nearness = 256;

function secretNear(text: string, from: number): readonly Hit[] {
  const near = text.slice(from, from + nearness);
  const match = /(?<![\w/+=])[A-Za-z0-9/+]{40}(?![\w/+=])/.exec(near);
  const secret = match?.[0] ?? "";
  if (!match || !isRealKey(secret) || !/[a-z]/.test(secret) || !/[A-Z]/.test(secret)) return [];
  return [{ kind: "aws-secret-key", at: from + match.index, length: secret.length, secret }];
}

function* namedHits(text: string): Hits {
  const namedSecret = namedSecretsIn(text);
  let from = 0;
  for (let looked = 1; ; looked += 1) {
    names.lastIndex = from;
    const match = names.exec(text);
    if (!match) return;
    from = names.lastIndex;
    const found = namedSecret(from);
    if (found) {
      const { start, end } = found;
      yield { kind: kindOf(match[0]), at: start, length: end - start, secret: text.slice(start, end) };
      from = end;
    }
    if (looked % slice === 0) yield undefined;
  }
}

function kindOf(name: string): string {
  if (/^p(?:ass|wd)/i.test(name)) return "password";
  return /key$/i.test(name) ? "key" : name.toLowerCase();
}

/**
 * In order; of two overlapping hits the earlier one wins, or the longer if equal, extended to the later end.
 */
function withoutOverlaps(hits: readonly Hit[]): readonly Hit[] {
  const kept: Hit[] = [];
  for (const hit of [...hits].sort((a, b) => a.at - b.at || b.length - a.length)) {
    const last = kept.at(-1);
    if (!last || hit.at >= last.at + last.length) kept.push(hit);
    else if (hit.at + hit.length > last.at + last.length) {
      kept[kept.length - 1] = { ...last, length: hit.at + hit.length - last.at };
    }
  }
  return kept;
}
