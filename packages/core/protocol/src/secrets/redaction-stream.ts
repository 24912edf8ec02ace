/**
 * Redaction stream: redacts output that arrives in chunks, and finds secrets that a chunk boundary splits.
 */
import type { Redactor } from "./redactor.ts";

export interface RedactionStream {
  /**
   * *Contract:* returns the text that can be shown now. It holds back the unfinished line, an unfinished key
   * block, and a possible beginning of an encoded value.
   */
  write(chunk: string): string;
  /**
   * *Contract:* returns the unfinished line if no more input is expected for now; still holds back an
   * unfinished key block.
   */
  rest(): string;
  /** *Contract:* returns the text held back; the stream may be written to again. */
  flush(): string;
}

/** Maximum characters held back: enough for a key block. */
const maxHeld = 32_768;
/** Characters kept if a line never ends, so that a key at the cut is whole in the next piece. */
const overlap = 4_096;
/**
 * Minimum characters of an encoded value that count as its beginning if no more input is expected for now.
 */
const minBegun = 4;
/** The maximum distance between an AWS key ID and its secret. */
const nearness = 320;

export function createRedactionStream(redact: Redactor): RedactionStream {
  let held = "";
  const take = (end: number): string => {
    const safe = outsideSecrets(held, end, redact);
    if (safe === 0) return "";
    const text = redact(held.slice(0, safe)).text;
    held = held.slice(safe);
    return text;
  };
  return {
    write(chunk) {
      held += chunk;
      // A progress bar ends its lines with a carriage return alone.
      const lineEnd = Math.max(held.lastIndexOf("\n"), held.lastIndexOf("\r")) + 1;
      const end = Math.min(lineEnd, openBlock(held), openPair(held), redact.openAt(held));
      if (end > 0) return take(end);
      return held.length > maxHeld ? take(held.length - overlap) : "";
    },
    rest() {
      const open = redact.openAt(held);
      // A few characters may be the end of a question that waits for an answer.
      const begun = held.length - open >= minBegun ? open : held.length;
      const end = Math.min(openBlock(held), openPair(held), begun);
      return end > 0 ? take(end) : "";
    },
    flush() {
      const text = redact(held).text;
      held = "";
      return text;
    },
  };
}

/**
 * Moves a cut inside a secret to the secret's start; if the buffer is full and starts with a secret, cuts
 * after it.
 */
function outsideSecrets(text: string, end: number, redact: Redactor): number {
  const cut = redact(text).found.find(({ at, length }) => at < end && end < at + length);
  if (!cut) return end;
  return cut.at > 0 || text.length <= maxHeld ? cut.at : cut.length;
}

/** The start of a private key that has not ended. */
function openBlock(text: string): number {
  const begin = text.lastIndexOf("-----BEGIN ");
  if (begin < 0) return text.length;
  const block = text.slice(begin);
  return /^-----BEGIN [A-Z0-9 ]*PRIVATE KEY/.test(block) && !/-----END [A-Z0-9 ]+-----/.test(block)
    ? begin
    : text.length;
}

function openPair(text: string): number {
  const last = Math.max(...["AKIA", "ASIA"].map((start) => text.lastIndexOf(start)));
  return last >= 0 && last > text.length - nearness ? last : text.length;
}
