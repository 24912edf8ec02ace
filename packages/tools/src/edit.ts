/** `edit`: replaces exact pieces of one file, all or none. */
import { applyReplacements, type Replaced } from "@lathe/edits";
import { type FileContent, isFailure, type Tool, type ToolContext } from "@lathe/protocol";
import * as v from "valibot";
import { changedFile } from "./changed-file.ts";
import { defineTool, failed, ok } from "./define-tool.ts";
import { linesOf, numbered } from "./numbered-lines.ts";
import { anyText, text } from "./schema.ts";
import { targetOf } from "./target-of.ts";

/** Lines of the result that show what the file now says, in all and per place. */
const shownLines = 40;
const placeLines = 12;

export const edit: Tool = defineTool({
  name: "edit",
  description:
    "Replace pieces of a file, all edits or none. Each `old` is copied exactly from the file as it is now (whitespace counts, no line numbers) and must be there once, else add neighbouring lines; `all` replaces every place.",
  schema: {
    path: text(),
    edits: v.pipe(
      v.array(v.object({ old: text(), new: anyText(), all: v.optional(v.boolean()) })),
      v.nonEmpty("may not be empty"),
    ),
  },
  // A refused edit shows the lines nearest to it, so it reads as well.
  effects: ({ path }) => [
    { kind: "read", target: targetOf(path) },
    { kind: "write", target: targetOf(path) },
  ],
  async run({ path, edits }, context) {
    const file = await context.workspace.read(path);
    if (isFailure(file)) return failed(file);
    const replacements = edits.map((one) => ({ old: one.old, new: one.new, all: one.all ?? false }));
    const replaced = applyReplacements(file.text, replacements);
    if (isFailure(replaced)) return failed({ ...replaced, text: `${file.path}: ${replaced.text}` });
    const change = { type: "put", path: file.path, expected: file.version, text: replaced.text } as const;
    const committed = await context.workspace.commit([change]);
    if (isFailure(committed)) return failed(committed);
    const [done] = committed;
    if (!done) throw new Error(`the commit of ${file.path} reported no change`);
    return ok(resultText(file.path, replaced), {
      changed: [changedFile(done, { before: file.text, after: replaced.text })],
      shown: shownAfter(file, { replaced, version: done.after ?? "" }, context),
    });
  },
});

/** The new version counts as shown only to a model that had been shown the old one. */
function shownAfter(
  file: FileContent,
  now: { readonly replaced: Replaced; readonly version: string },
  context: ToolContext,
) {
  const knew = context.shown(file.path).some((one) => one.version === file.version);
  return knew ? [{ path: file.path, version: now.version, ranges: now.replaced.ranges }] : [];
}

function resultText(path: string, { text: now, ranges }: Replaced): string {
  const places = ranges.length === 1 ? "1 place" : `${ranges.length} places`;
  const head = `Edited ${path} (${places}).`;
  const lines = linesOf(now);
  const shown: string[] = [];
  for (const [first, last] of ranges) {
    const end = Math.min(last, lines.length, first + placeLines - 1);
    if (shown.length + end - first >= shownLines) {
      shown.push("...");
      break;
    }
    for (let line = first; line <= end; line++) shown.push(numbered(lines, line));
    if (end < Math.min(last, lines.length)) shown.push("...");
  }
  return [head, ...shown].join("\n");
}
