/** `write`: creates a file, or replaces one whose current version the model has seen. */
import {
  type Failure,
  type FileContent,
  failure,
  isFailure,
  type Tool,
  type ToolContext,
} from "@lathe/protocol";
import { defineTool, failed, ok } from "../define-tool.ts";
import { linesOf } from "../finding/numbered-lines.ts";
import { anyText, text } from "../schema.ts";
import { targetOf } from "../target-of.ts";
import { editingNames } from "./editing-names.ts";
import type { PlannedFile } from "./planned-file.ts";
import { refusePlaceholder } from "./refuse-placeholder.ts";

export const write: Tool = defineTool({
  name: "write",
  knownAs: editingNames,
  kind: "edit",
  description:
    "Create a file with its folders, or replace one whole that you have read. To change a part use `edit`.",
  schema: { path: text(), content: anyText() },
  counterpart: ({ content, path }, { pathOf }) => ({
    tool_name: "Write",
    tool_input: { file_path: pathOf(path), content },
  }),
  effects: ({ path }) => [{ kind: "write", target: targetOf(path), traits: ["replaces"] }],
  async propose({ path, content }, context) {
    const planned = await planOf(path, content, context);
    return isFailure(planned) ? planned : [planned.proposed];
  },
  async run({ path, content }, context) {
    const whole = await planOf(path, content, context);
    if (isFailure(whole)) return failed(whole);
    const { before, after } = whole.proposed;
    if (before !== undefined && before === after) return ok(`${path} already has this content.`);
    const { takePart } = await import("./take-part.ts");
    const taken = await takePart([whole], context);
    if (isFailure(taken)) return failed(taken);
    const planned = taken.planned[0] ?? whole;
    const committed = await context.workspace.commit([planned.change]);
    if (isFailure(committed)) return failed(committed);
    const [one] = committed;
    if (!one) throw new Error(`the commit of ${path} reported no change`);
    const { text, facts } = planned.done(one);
    return ok([text, ...taken.notes].join("\n"), facts);
  },
});

async function planOf(path: string, content: string, context: ToolContext): Promise<PlannedFile | Failure> {
  const current = await context.workspace.read(path);
  if (isFailure(current) && current.code !== "not-found") return current;
  const before = isFailure(current) ? undefined : current;
  const refused = refuseUnseen(before, context) ?? (await refusePlaceholder(path, content, context));
  if (refused) return refused;
  const [{ matchFormat }, { changedFile }] = await Promise.all([
    import("@lathe/edits"),
    import("./changed-file.ts"),
  ]);
  const planned = (after: string): PlannedFile => ({
    change: { type: "put", path, expected: before?.version ?? null, text: after },
    proposed: {
      path: targetOf(path),
      version: before?.version ?? null,
      after,
      ...(before && { before: before.text }),
    },
    done: (one) => {
      if (before) context.texts.keep(before.version, before.text);
      if (one.after !== undefined) context.texts.keep(one.after, after);
      const lines = linesOf(after).length;
      return {
        text: `${before ? "Replaced" : "Created"} ${one.path} (${lines} lines).`,
        facts: {
          changed: [changedFile(one, { before: before?.text, after })],
          shown: [{ path: one.path, version: one.after ?? "", ranges: lines > 0 ? [[1, lines]] : [] }],
        },
      };
    },
    narrowed: async (text) => planned(text),
  });
  return planned(before ? matchFormat(content, before.text) : content);
}

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
