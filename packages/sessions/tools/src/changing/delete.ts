/** `delete`: removes one file. */
import { isFailure, type Tool } from "@lathe/protocol";
import { defineTool, failed, ok } from "../define-tool.ts";
import { text } from "../schema.ts";
import { targetOf } from "../target-of.ts";
import { edit } from "./edit.ts";

export const deleteFile: Tool = defineTool({
  name: "delete",
  standsInFor: edit.name,
  kind: "delete",
  description: "Delete one file.",
  schema: { path: text() },
  // The resulting diff shows the file's content, so the call reads as well.
  effects: ({ path }) => [
    { kind: "read", target: targetOf(path) },
    { kind: "delete", target: targetOf(path) },
  ],
  async run({ path }, context) {
    const file = await context.workspace.read(path);
    if (isFailure(file)) {
      const byShell = ["not-a-file", "not-text", "too-large"].includes(file.code);
      return failed(
        byShell ? { ...file, text: `${path} is not a text file: remove it with \`rm\` in the shell.` } : file,
      );
    }
    const [{ changedFile }, { refuseStale }] = await Promise.all([
      import("./changed-file.ts"),
      import("./freshness.ts"),
    ]);
    const stale = await refuseStale(file, context);
    if (stale) return failed(stale);
    const committed = await context.workspace.commit([{ type: "delete", path, expected: file.version }]);
    if (isFailure(committed)) return failed(committed);
    context.texts.keep(file.version, file.text);
    const changed = committed.map((one) => changedFile(one, { before: file.text, after: undefined }));
    return ok(`Deleted ${file.path}.`, { changed });
  },
});
