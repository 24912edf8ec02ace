/** Without binary: output that is no text is counted, not shown. */

/** The part of a line's characters from which on it is no text: control characters, and bytes that are no UTF-8. */
const maxStrange = 0.05;
/** A few strange characters in a line of words are left alone. */
const fewStrange = 8;

/** The text with each run of lines that are no text replaced by a line that says how much it was. */
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

/** Controls but those that text has: backspace to carriage return, and ESC. */
const controls = String.raw`\u0000-\u0007\u000e-\u001a\u001c-\u001f`;
const strange = new RegExp(`[${controls}\ufffd]`);
const everyStrange = new RegExp(strange.source, "g");

function isBinary(line: string): boolean {
  if (!strange.test(line)) return false;
  const count = line.match(everyStrange)?.length ?? 0;
  return count > line.length * maxStrange && (count >= fewStrange || line.includes("\0"));
}
