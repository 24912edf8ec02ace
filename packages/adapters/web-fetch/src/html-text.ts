/** HTML text: a page as a person would read it, with its headings, lists and links. */
import { convert } from "html-to-text";

/** Elements without content. */
const skipped = ["img", "svg", "nav", "footer", "script", "style", "noscript", "template", "form", "iframe"];

/** A title is near the beginning. */
const headChars = 64_000;

export function htmlText(html: string, { href }: URL): string {
  const main = /<main[\s>]/i.test(html) ? "main" : /<article[\s>]/i.test(html) ? "article" : "body";
  const title = /<title[^<>]{0,200}>([^<]{0,500})/i.exec(html.slice(0, headChars))?.[1]?.trim();
  const text = convert(html, {
    wordwrap: false,
    baseElements: { selectors: [main], returnDomByDefault: true },
    selectors: [
      ...skipped.map((selector) => ({ selector, format: "skip" })),
      { selector: "a", options: { baseUrl: href, hideLinkHrefIfSameAsText: true, noAnchorUrl: true } },
      ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({
        selector,
        options: { uppercase: false },
      })),
      { selector: "table", format: "dataTable", options: { uppercaseHeaderCells: false } },
    ],
    // Cuts pages with endless nesting or lists.
    limits: { maxDepth: 200, maxChildNodes: 10_000, maxInputLength: 5_000_000 },
  });
  return title && !text.startsWith(title) ? `${title}\n\n${text}` : text;
}
