/** Gives a new text the byte order mark and line endings of the text it replaces. */

const mark = "\uFEFF";

/** `text` in the format of `like`: its byte order mark, and CRLF if all lines of `like` end so. */
export function matchFormat(text: string, like: string): string {
  const body = text.startsWith(mark) ? text.slice(1) : text;
  const ended = isCrlf(like) ? body.replaceAll("\r\n", "\n").replaceAll("\n", "\r\n") : body;
  return like.startsWith(mark) ? mark + ended : text.startsWith(mark) ? mark + ended : ended;
}

function isCrlf(text: string): boolean {
  return text.includes("\r\n") && !/(^|[^\r])\n/.test(text);
}
