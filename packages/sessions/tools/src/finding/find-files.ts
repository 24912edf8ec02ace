/** `find_files`: finds files by name. */
import { isFailure, type NoFiles, type Tool } from "@lathe/protocol";
import * as v from "valibot";
import { defineTool, failed, ok } from "../define-tool.ts";
import { count, text } from "../schema.ts";
import { targetOf } from "../target-of.ts";
import { leftOutNote } from "./left-out.ts";
import { noFilesText } from "./no-files.ts";
import { isOutcome, placeOf, whereOf, withoutNote } from "./place-of.ts";

const defaultLimit = 200;
const maxLimit = 2_000;

export const findFiles: Tool = defineTool({
  name: "find_files",
  knownAs: ["glob"],
  kind: "search",
  description:
    "Find files by glob: `*.ts` at any depth, `src/**/x*` from the path down; .gitignored files left out.",
  schema: { glob: text(), path: v.optional(text()), limit: v.optional(count()) },
  counterpart: ({ glob, path }, { pathOf }) => ({
    tool_name: "Glob",
    tool_input: { pattern: glob, path: pathOf(path) },
  }),
  effects: ({ path }) => [{ kind: "read", target: targetOf(path) }],
  async run({ glob, path, limit = defaultLimit }, context) {
    const place = await placeOf(path ?? ".", context);
    if (isOutcome(place)) return place;
    const where = whereOf(place, context);
    if (isFailure(where)) return failed(where);
    const query = { glob, ...where, limit: Math.min(Math.max(1, limit), maxLimit) };
    const found = await context.search.files(query, context.signal);
    if (isFailure(found)) return failed(found);
    const more = found.more ? ["[more: narrow the glob or raise the limit]"] : [];
    const paths = found.paths.length > 0 ? found.paths : [nothingText(glob, found.noFiles)];
    return ok(
      [...paths, ...more, ...leftOutNote(found.leftOut, "file"), ...withoutNote(place, context)].join("\n"),
    );
  },
});

function nothingText(glob: string, noFiles: NoFiles | undefined): string {
  return noFiles === "ignored" ? `None found: ${noFilesText(noFiles, glob)}.` : `No file matches ${glob}.`;
}
