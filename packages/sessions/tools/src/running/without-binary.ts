/** Without binary: counts binary output instead of showing it. */

/** The share of control characters and non-UTF-8 bytes from which a line counts as binary. */
const maxStrange = 0.05;
/** A few strange characters in a line of text do not make it binary. */
const fewStrange = 8;

/** Replaces each run of binary lines with a line that states its size. */
export function withoutBinary(text: string): string {
  if (!strange.test(text)) return text;
  const out: string[] = [];
  let hidden = 0;
  const tell = (): void => {
    if (hidden > 0)
      out.push(`[${hidden} characters of binary output not shown: look at it with \`file\` or \`xxd\`]`);
    hidden = 0;
  };
  for (const line of text.split("\n")) {
    if (isBinary(line)) hidden += line.length;
    else if (hidden > 0 && line.length < fewStrange) hidden += line.length + 1;
    else {
      tell();
      out.push(line);
    }
  }
  tell();
  return out.join("\n");
}

/** Control characters other than those in text: backspace to carriage return, and ESC. */
const controls = String.raw`\u0000-\u0007\u000e-\u001a\u001c-\u001f`;
const strange = new RegExp(`[${controls}\ufffd]`);
const everyStrange = new RegExp(strange.source, "g");

function isBinary(line: string): boolean {
  if (!strange.test(line)) return false;
  const count = line.match(everyStrange)?.length ?? 0;
  return count > line.length * maxStrange && (count >= fewStrange || line.includes("\0"));
}
