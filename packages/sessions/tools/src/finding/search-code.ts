/** `search_code`: ranks files and lines for a description, a problem or a name. */
import {
  headOf,
  isFailure,
  type RankedRange,
  type RankResult,
  rankedKinds,
  type Tool,
} from "@lathe/protocol";
import * as v from "valibot";
import { defineTool, failed, ok } from "../define-tool.ts";
import { count, text } from "../schema.ts";
import { targetOf } from "../target-of.ts";
import { leftOutNote } from "./left-out.ts";

const defaultFiles = 8;
const maxFiles = 30;
/** The most characters shown of a line, and the most ranges. */
const lineChars = 200;
const maxRanges = 56;

export const searchCode: Tool = defineTool({
  name: "search_code",
  description:
    "Find code by meaning: say what it does or what goes wrong. Ranked lines and why; for exact text use grep.",
  schema: {
    query: text(),
    path: v.optional(text()),
    kind: v.optional(v.picklist(rankedKinds)),
    k: v.optional(count("files, default 8")),
  },
  counterpart: ({ query, path }, { pathOf }) => ({
    tool_name: "Grep",
    tool_input: { pattern: query, path: pathOf(path) },
  }),
  effects: ({ path }) => [{ kind: "read", target: targetOf(path) }],
  async run({ query, path: below, kind, k = defaultFiles }, context) {
    const path = await context.workspace.resolve(below ?? ".");
    if (isFailure(path)) return failed(path);
    const asked = {
      query,
      path,
      k: Math.min(Math.max(1, Math.floor(k)), maxFiles),
      exclude: context.unreadable(path),
      ...(kind && { kind }),
    };
    const found = await context.search.rank(asked, context.signal);
    if (!isFailure(found)) return ok(resultText(found, query));
    return failed(found);
  },
});

function resultText({ ranges, leftOut, partial, remark }: RankResult, query: string): string {
  const notes = [
    ...(partial ? ["[the index is being built: ask again for a better answer]"] : []),
    ...(remark === undefined ? [] : [`[${remark}]`]),
    ...leftOutNote(leftOut, "file"),
  ];
  const pieces = ranges.slice(0, maxRanges).map(rangeText);
  const found = pieces.length > 0 ? pieces : [`Nothing found for ${query}.`];
  return [...found, ...(notes.length > 0 ? [notes.join("\n")] : [])].join("\n\n");
}

function rangeText({ path, startLine, endLine, why, lines }: RankedRange): string {
  const shown = lines.map((line, at) => `${startLine + at}\t${headOf(line, lineChars)}`);
  return [`${path}:${startLine}-${endLine} (${why})`, ...shown].join("\n");
}
