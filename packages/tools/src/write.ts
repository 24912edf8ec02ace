/** `write`: creates a file, or replaces one whose current version the model has seen. */
import {
  type Failure,
  type FileContent,
  failure,
  isFailure,
  type Tool,
  type ToolContext,
} from "@lathe/protocol";
import { defineTool, failed, ok } from "./define-tool.ts";
import { linesOf } from "./numbered-lines.ts";
import { refusePlaceholder } from "./refuse-placeholder.ts";
import { anyText, text } from "./schema.ts";
import { targetOf } from "./target-of.ts";

export const write: Tool = defineTool({
  name: "write",
  description:
    "Create a file with its folders, or replace one whole that you have read. To change a part use `edit`.",
  schema: { path: text(), content: anyText() },
  effects: ({ path }) => [{ kind: "write", target: targetOf(path), traits: ["replaces"] }],
  async run({ path, content }, context) {
    const current = await context.workspace.read(path);
    if (isFailure(current) && current.code !== "not-found") return failed(current);
    const before = isFailure(current) ? undefined : current;
    const refused = refuseUnseen(before, context) ?? (await refusePlaceholder(path, content, context));
    if (refused) return failed(refused);
    const [{ matchFormat }, { changedFile }] = await Promise.all([
      import("@lathe/edits"),
      import("./changed-file.ts"),
    ]);
    const after = before ? matchFormat(content, before.text) : content;
    if (before?.text === after) return ok(`${before.path} already has this content.`);
    const expected = before?.version ?? null;
    const committed = await context.workspace.commit([{ type: "put", path, expected, text: after }]);
    if (isFailure(committed)) return failed(committed);
    const [done] = committed;
    if (!done) throw new Error(`the commit of ${path} reported no change`);
    if (before) context.texts.keep(before.version, before.text);
    if (done.after !== undefined) context.texts.keep(done.after, after);
    const lines = linesOf(after).length;
    return ok(`${before ? "Replaced" : "Created"} ${done.path} (${lines} lines).`, {
      changed: [changedFile(done, { before: before?.text, after })],
      shown: [{ path: done.path, version: done.after ?? "", ranges: lines > 0 ? [[1, lines]] : [] }],
    });
  },
});

function wasShown(file: FileContent, context: ToolContext): boolean {
  return file.text === "" || context.shown(file.path).some((one) => one.version === file.version);
}

function refuseUnseen(before: FileContent | undefined, context: ToolContext): Failure | undefined {
  if (!before || wasShown(before, context)) return undefined;
  const why = "exists and you have not seen its current version";
  return failure(
    "stale-version",
    `${before.path} ${why}: read it first, or use \`edit\`. Nothing was written.`,
  );
}
