/** `list`: what is in a folder. */
import { type Entry, isFailure, type Tool } from "@lathe/protocol";
import * as v from "valibot";
import { defineTool, failed, ok } from "./define-tool.ts";
import { text } from "./schema.ts";
import { targetOf } from "./target-of.ts";

const maxEntries = 500;
const marks = { file: "", folder: "/", link: "@", other: "?" };

export const list: Tool = defineTool({
  name: "list",
  description: "List a folder: names with / for folders, @ for links, bytes for files.",
  schema: { path: v.optional(text("default: the workspace")) },
  effects: ({ path }) => [{ kind: "read", target: targetOf(path) }],
  async run({ path }, context) {
    const entries = await context.workspace.list(path ?? ".");
    if (isFailure(entries)) return failed(entries);
    const lines = entries.slice(0, maxEntries).map(lineOf);
    const left = entries.length - lines.length;
    return ok(
      [...lines, ...(left > 0 ? [`[${left} more: use find_files]`] : [])].join("\n") || "(empty folder)",
    );
  },
});

function lineOf({ name, kind, size }: Entry): string {
  return `${name}${marks[kind]}${kind === "file" ? ` ${size}` : ""}`;
}
