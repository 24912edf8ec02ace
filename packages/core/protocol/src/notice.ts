/** Notice: Lathe's text inside a user message, marked as such; the prompt explains the mark. */

const mark = '<notice from="harness">';
const end = "</notice>";

/** Names in the text may come from anyone, so none of them may end the mark or begin another. */
export function noticeText(text: string): string {
  return `${mark}${text.replaceAll(/<(?=\/?notice\b)/giu, "‹")}${end}`;
}

/** The text of a notice, for people; any other text unchanged. */
export function withoutMark(text: string): string {
  return isNotice(text) && text.endsWith(end) ? text.slice(mark.length, -end.length) : text;
}

export function isNotice(text: string): boolean {
  return text.startsWith(mark);
}
