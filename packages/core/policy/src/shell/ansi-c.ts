/** The text that `$'...'` means. */

const named: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  e: "\x1b",
  E: "\x1b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

export function decodeAnsiC(text: string): string {
  const escapes = /\\(?:x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|c[\s\S]|[\s\S])/gu;
  // A shell's string ends at its first NUL.
  return text.replace(escapes, (found) => decodeEscape(found.slice(1))).split("\0", 1)[0] ?? "";
}

function decodeEscape(text: string): string {
  if (/^[xuU]./u.test(text)) return fromCode(Number.parseInt(text.slice(1), 16));
  if (/^[0-7]/u.test(text)) return fromCode(Number.parseInt(text, 8) & 0xff);
  if (/^c./su.test(text)) return fromCode(text.charCodeAt(1) & 0x1f);
  return named[text] ?? text;
}

function fromCode(code: number): string {
  return code > 0x10ffff ? "�" : String.fromCodePoint(code);
}
