/** `edit`: replaces pieces of one file, all or none. */
import { isFailure, type Tool } from "@lathe/protocol";
import * as v from "valibot";
import { defineTool, failed, ok } from "./define-tool.ts";
import { refusePlaceholder } from "./refuse-placeholder.ts";
import { anyText, text } from "./schema.ts";
import { targetOf } from "./target-of.ts";

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
  effects: ({ path, edits }) => [
    { kind: "read", target: targetOf(path) },
    { kind: "write", target: targetOf(path), ...(isShrinking(edits) && { traits: ["replaces"] }) },
  ],
  async run({ path, edits }, context) {
    // The engine is some forty files, and most sessions begin with reading.
    const [{ applyReplacements }, plans] = await Promise.all([
      import("@lathe/edits"),
      import("./plan-edit.ts"),
    ]);
    const secret = await refusePlaceholder(
      path,
      edits.map((one) => `${one.old}\n${one.new}`).join("\n"),
      context,
    );
    if (secret) return failed(secret);
    const { editFacts, editText, placesCount, planEdit, putChange } = plans;
    const replacements = edits.map((one) => ({ old: one.old, new: one.new, all: one.all ?? false }));
    const planned = await planEdit(path, context, (file) => applyReplacements(file, replacements));
    if (isFailure(planned)) return failed(planned);
    const committed = await context.workspace.commit([putChange(planned)]);
    if (isFailure(committed)) return failed(committed);
    const [done] = committed;
    if (!done) throw new Error(`the commit of ${planned.file.path} reported no change`);
    const head = `Edited ${planned.file.path} (${placesCount(planned.applied)}).`;
    return ok(editText(head, planned), editFacts(planned, done, context));
  },
});

/** Most of what it names goes: that may be the whole file. */
function isShrinking(edits: readonly { readonly old: string; readonly new: string }[]): boolean {
  const length = (of: "old" | "new"): number => edits.reduce((sum, edit) => sum + edit[of].trim().length, 0);
  return length("new") * 2 < length("old");
}
