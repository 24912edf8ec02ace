/** Shown texts: file contents as the model saw them, in memory at once and in the blobs shortly after. */
import { type Blobs, isFailure, type Texts } from "@lathe/protocol";

/** Characters kept in memory; older texts are read from the blobs. */
const maxChars = 20_000_000;
/** Milliseconds before texts are stored: by then the model's request is under way. */
const delayMs = 20;

export interface ShownTexts extends Texts {
  /** *Contract:* resolves once every text so far is stored or has failed to be. */
  flush(): Promise<void>;
}

/** A text that contains a secret stays in memory. */
export function createShownTexts(
  blobs: Blobs,
  redact: (text: string) => Promise<string> = async (text) => text,
): ShownTexts {
  const texts = new Map<string, string>();
  const unwritten = new Set<string>();
  let chars = 0;
  let timer: NodeJS.Timeout | undefined;
  const flush = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    for (const version of unwritten) {
      unwritten.delete(version);
      const text = texts.get(version);
      // If a text cannot be stored, its file later counts as changed, and the model reads it again.
      if (text !== undefined && (await redact(text)) === text) await blobs.put(text, { durable: false });
    }
  };
  return {
    flush,
    keep(version, text) {
      if (texts.has(version)) return;
      texts.set(version, text);
      unwritten.add(version);
      chars += text.length;
      for (const [oldest, { length }] of texts) {
        if (chars <= maxChars || unwritten.has(oldest)) break;
        texts.delete(oldest);
        chars -= length;
      }
      timer ??= setTimeout(flush, delayMs).unref();
    },
    async recall(version) {
      const known = texts.get(version);
      if (known !== undefined) return known;
      const stored = await blobs.get(version);
      return isFailure(stored) ? undefined : stored;
    },
  };
}
