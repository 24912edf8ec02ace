/**
 * Shorten: the deterministic stage: old results become summaries of their signals, repeated ones references,
 * old images text.
 */
import {
  type CompactionWhy,
  freesEnough,
  headOf,
  type ModelInfo,
  type Session,
  type ShortenedPart,
  type ToolResultPart,
} from "@lathe/protocol";
import { assemble, estimateTokens, partTokens } from "../assemble.ts";
import { type OldPart, oldParts } from "./old-parts.ts";
import { type Level, resultText } from "./result-text.ts";
import { latestTokens } from "./room.ts";

/** Storage of whole texts. Neither function rejects. */
export interface WholeTexts {
  /** Undefined if it is gone. */
  read(blob: string): Promise<string | undefined>;
  /** Undefined if it cannot be stored. */
  store(text: string): Promise<string | undefined>;
}

interface Given {
  readonly info: ModelInfo;
  readonly why: CompactionWhy;
}

/** Shortens only as much as needed. */
export async function shorten(
  session: Session,
  { info, why }: Given,
  texts: WholeTexts,
): Promise<readonly ShortenedPart[]> {
  const olds = oldParts(session, info);
  if (why === "images") return shortAll(olds.filter(hasImages), 1, { session, info, texts });
  const level = levelOf(olds, session, info) ?? 2;
  return shortAll(olds, level, { session, info, texts });
}

/** Whether shortening old results alone would free enough. */
export function freesByItself(session: Session, info: ModelInfo): boolean {
  return levelOf(oldParts(session, info), session, info) !== undefined;
}

/** The first level that frees enough, judged without reading the whole texts. */
function levelOf(olds: readonly OldPart[], session: Session, info: ModelInfo): Level | undefined {
  const before = estimateTokens(assemble(session, info));
  return ([1, 2] as const).find((level) => {
    const freed = olds.map((old) => freedBy(old, level, { session, info }));
    return freesEnough({ before, after: before - freed.reduce((sum, tokens) => sum + tokens, 0) });
  });
}

const unknownBlob = "0".repeat(64);
const judged = new WeakMap<ToolResultPart, Map<Level, number>>();

/** Results never change, so each is judged once. */
function freedBy(old: OldPart, level: Level, { session, info }: Pick<Around, "session" | "info">): number {
  if (old.type === "image") return 1_500;
  const { result } = old;
  const known = judged.get(result)?.get(level);
  if (known !== undefined && !isLatest(old)) return known;
  const text = textOf(old, level, { session, info, whole: result.text, blob: unknownBlob });
  const { images: _, ...bare } = result;
  const freed = text === undefined ? 0 : partTokens(result) - partTokens({ ...bare, text });
  if (!isLatest(old)) judged.set(result, new Map(judged.get(result)).set(level, freed));
  return freed;
}

function isLatest(old: OldPart): boolean {
  return old.type === "result" && old.isLatest;
}

function hasImages(old: OldPart): boolean {
  return old.type === "image" || (old.result.images?.length ?? 0) > 0;
}

interface Around {
  readonly session: Session;
  readonly info: ModelInfo;
  readonly texts: WholeTexts;
}

async function shortAll(
  olds: readonly OldPart[],
  level: Level,
  around: Around,
): Promise<readonly ShortenedPart[]> {
  const parts: ShortenedPart[] = [];
  for (const old of olds) {
    const short = await shortPart(old, level, around);
    if (short) parts.push(short);
  }
  return parts;
}

async function shortPart(
  old: OldPart,
  level: Level,
  { texts, ...around }: Around,
): Promise<ShortenedPart | undefined> {
  const { message, part } = old;
  if (old.type === "image") return { message, part, text: imageText(old) };
  const { result } = old;
  if (textOf(old, level, { ...around, whole: result.text, blob: unknownBlob }) === undefined)
    return undefined;
  // If the blob is gone, the shown part is used.
  const stored = result.blob === undefined ? undefined : await texts.read(result.blob);
  const blob = stored === undefined ? await texts.store(result.text) : result.blob;
  if (blob === undefined) return undefined;
  const text = textOf(old, level, { ...around, whole: stored ?? result.text, blob });
  return text === undefined ? undefined : { message, part, text, blob };
}

function imageText({ mediaType, isUnseen }: Extract<OldPart, { type: "image" }>): string {
  const what = isUnseen
    ? "came here and was not sent: too many or too large for one request"
    : "was shown here";
  return `[an image (${mediaType}) ${what}]`;
}

interface Source {
  readonly session: Session;
  readonly info: ModelInfo;
  readonly whole: string;
  readonly blob: string;
}

/** A result stays unchanged unless its replacement is shorter than this share. */
const worthwhile = 0.8;

function textOf(old: Exclude<OldPart, { type: "image" }>, level: Level, source: Source): string | undefined {
  const { result } = old;
  const { session, info, whole, blob } = source;
  if (old.type === "repeated") return old.text.length < result.text.length ? old.text : undefined;
  if (result.short && level === 1) return undefined;
  const text = old.isLatest
    ? latestText(result, { blob, chars: roomOfLatest(session, info) })
    : resultText({ part: result, input: old.input, whole, blob, cwd: session.cwd, level });
  const isWorth = text.length < result.text.length * worthwhile || result.images !== undefined;
  return isWorth ? text : undefined;
}

/** A new result that does not fit: as much of its beginning as fits. */
function latestText(
  result: ToolResultPart,
  { blob, chars }: { readonly blob: string; readonly chars: number },
): string {
  if (result.images) return `[an image was shown here that does not fit]\n${result.text}`;
  const end = result.text.lastIndexOf("\n", chars);
  const start = headOf(result.text, end > 0 ? end : chars);
  return `${start}\n[cut: no more fits into the window; read or grep path "blob:${blob}", in small ranges]`;
}

function roomOfLatest({ messages }: Session, info: ModelInfo): number {
  const last = messages.findLast(({ role }) => role === "tool");
  return Math.floor((latestTokens(info) * 2) / Math.max(1, last?.parts.length ?? 1));
}
