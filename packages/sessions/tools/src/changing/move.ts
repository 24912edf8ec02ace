/** `move`: renames one file. */
import { isFailure, type Tool } from "@lathe/protocol";
import { defineTool, failed, ok } from "../define-tool.ts";
import { text } from "../schema.ts";
import { targetOf } from "../target-of.ts";
import { edit } from "./edit.ts";

export const move: Tool = defineTool({
  name: "move",
  standsInFor: edit.name,
  kind: "move",
  description: "Move or rename one file; `to` must not exist.",
  schema: { path: text(), to: text() },
  effects: ({ path, to }) => [
    { kind: "read", target: targetOf(path) },
    { kind: "delete", target: targetOf(path) },
    { kind: "write", target: targetOf(to) },
  ],
  async run({ path, to }, context) {
    const file = await context.workspace.read(path);
    if (isFailure(file)) {
      const byShell = ["not-a-file", "not-text", "too-large"].includes(file.code);
      return failed(
        byShell ? { ...file, text: `${path} is not a text file: move it with \`mv\` in the shell.` } : file,
      );
    }
    const committed = await context.workspace.commit([{ type: "move", path, to, expected: file.version }]);
    if (isFailure(committed)) return failed(committed);
    context.texts.keep(file.version, file.text);
    const known = context.shown(file.path).findLast((one) => one.version === file.version);
    const shown = committed.flatMap((one) => (known ? [{ ...known, path: one.path }] : []));
    const { changedFile } = await import("./changed-file.ts");
    const changed = committed.map((one) => changedFile(one, { before: file.text, after: file.text }));
    return ok(`Moved ${file.path} to ${committed[0]?.path ?? to}.`, { changed, shown });
  },
});
