/** Redaction stream: the redactor for output that comes in chunks: a secret cut in two by a chunk's end is still found. */
import type { Redactor } from "./redactor.ts";

export interface RedactionStream {
  /** *Contract:* what can be shown now; held back are the unfinished line, a key block not yet ended and what may be the beginning of an encoded value. */
  write(chunk: string): string;
  /** *Contract:* the unfinished line, where nothing more comes of it for now; a key block not yet ended stays held back. */
  rest(): string;
  /** *Contract:* what was held back; the stream may be written to again. */
  flush(): string;
}

/** Characters held back at most: room for a key block. */
const maxHeld = 32_768;
/** What is kept where a line never ends, so that a key at the cut is whole in the next piece. */
const overlap = 4_096;
/** Characters of an encoded value that count as its beginning where nothing more comes for now. */
const minBegun = 4;
/** How far behind an AWS key id its secret may stand. */
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
      // A progress bar ends its lines with a return alone.
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

/** A cut that would go through a secret is moved to its start; a text that is full is cut past a secret at its start. */
function outsideSecrets(text: string, end: number, redact: Redactor): number {
  const cut = redact(text).found.find(({ at, length }) => at < end && end < at + length);
  if (!cut) return end;
  return cut.at > 0 || text.length <= maxHeld ? cut.at : cut.length;
}

/** Where a private key begins that has not ended. */
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
