/** Notice: words of the harness among a person's, marked as such; the prompt says what the mark means. */

const mark = '<notice from="harness">';
const end = "</notice>";

/** Names in it may be anybody's: none of them ends it, or begins another. */
export function noticeText(text: string): string {
  return `${mark}${text.replaceAll(/<(?=\/?notice\b)/giu, "‹")}${end}`;
}

/** What one says, for people; any other text as it is. */
export function withoutMark(text: string): string {
  return isNotice(text) && text.endsWith(end) ? text.slice(mark.length, -end.length) : text;
}

export function isNotice(text: string): boolean {
  return text.startsWith(mark);
}
