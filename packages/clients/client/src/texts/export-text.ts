/** A session as Markdown to read or share. */
import type { Event } from "@lathe/protocol";
import { duration, moment, summaryText } from "@lathe/terminal";
import { type Account, accountOf, type Entry } from "./account.ts";
import { htmlPage } from "./html-page.ts";

export type ExportFormat = "markdown" | "html";

export function exportText(events: readonly Event[], format: ExportFormat): string {
  const account = accountOf(events);
  return format === "html" ? htmlPage(account) : markdownText(account);
}

function markdownText({ session, steps, entries }: Account): string {
  const summary = summaryText(session, steps, session.updatedAt - session.createdAt);
  const head = `# ${session.title}\n\n${moment(session.createdAt)} · ${session.model} · ${session.cwd} · session ${session.id}\n`;
  return `${[head, ...entries.map(entryText)].join("\n")}\n---\n\n${summary}\n`;
}

function entryText(entry: Entry): string {
  switch (entry.type) {
    case "user": {
      const images = entry.images.map(({ mediaType }) => `\n(an image, ${mediaType})\n`).join("");
      return `## You, ${moment(entry.at)}\n\n${quoted(entry.text)}\n${images}`;
    }
    case "agent":
      return `## ${entry.model}\n\n${entry.text}\n`;
    case "call":
      return callText(entry);
    case "note":
      return `> ${entry.text}\n`;
    case "end":
      return `*${entry.word}${entry.why === undefined ? "" : `: ${entry.why}`}*\n`;
  }
}

function callText({ tool, target, state, ms, text, changed }: Extract<Entry, { type: "call" }>): string {
  const head = `- **${tool}** ${code(target)} (${state}, ${duration(ms)})\n`;
  const diffs = changed.flatMap(({ diff }) => (diff ? [`\n${fenced(diff, "diff")}`] : []));
  return head + (diffs.length > 0 ? diffs.join("") : text === "" ? "" : `\n${fenced(text, "text")}`);
}

function quoted(text: string): string {
  return text
    .split("\n")
    .map((line) => `> ${line}`.trimEnd())
    .join("\n");
}

/** Uses a fence longer than any run of backticks in the text. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const mark = "`".repeat(longest + 1);
  return `${mark}${language}\n${text.trimEnd()}\n${mark}\n`;
}

function code(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line === "" ? "" : line.includes("`") ? `\`\` ${line} \`\`` : `\`${line}\``;
}
