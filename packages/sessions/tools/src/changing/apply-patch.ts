/** `apply_patch`: adds, changes, deletes and moves several files, all or none. */
import { type PatchFile, parsePatch } from "@lathe/edits/patch";
import { type Effect, type Failure, failure, isFailure, type Tool, type ToolContext } from "@lathe/protocol";
import { defineTool, failed, ok } from "../define-tool.ts";
import { text } from "../schema.ts";
import { targetOf } from "../target-of.ts";
import { editingNames } from "./editing-names.ts";
import type { PlannedFile } from "./planned-file.ts";
import { refusePlaceholder } from "./refuse-placeholder.ts";

/** Strict enough to guide a model; the parser accepts more. */
const grammar = `start: begin file+ end
begin: "*** Begin Patch" LF
end: "*** End Patch" LF?
?file: add | delete | update
add: "*** Add File: " TEXT LF ("+" TEXT? LF)+
delete: "*** Delete File: " TEXT LF
update: "*** Update File: " TEXT LF move? hunk*
move: "*** Move to: " TEXT LF
hunk: header+ line+ eof?
header: "@@" TEXT? LF
line: (" " | "+" | "-") TEXT? LF
eof: "*** End of File" LF
TEXT: /[^\\n]+/
%import common.LF`;

export const applyPatch: Tool = defineTool({
  name: "apply_patch",
  knownAs: editingNames,
  kind: "edit",
  description:
    "Change files with a patch, all of it or none: `*** Begin Patch`, then for each file `*** Update File: path` (optionally `*** Move to: path`) with hunks of `@@` and lines that begin with space, - or +; or `*** Add File: path` with + lines; or `*** Delete File: path`; then `*** End Patch`. Give 3 lines of context; `@@ line above` tells equal places apart.",
  schema: { patch: text() },
  freeform: { argument: "patch", grammar },
  problem(input) {
    const files = filesOf(input);
    if (isFailure(files)) return files.text;
    const paths = files.flatMap(pathsOf);
    const twice = paths.find((path, i) => paths.indexOf(path) < i);
    return twice === undefined ? undefined : `names ${twice} twice: join its hunks. Nothing was written.`;
  },
  effects: (input) => {
    const files = filesOf(input);
    return isFailure(files) ? [] : files.flatMap(effectsOf);
  },
  async propose(input, context) {
    const files = filesOf(input);
    const planned = isFailure(files) ? files : await planFiles(files, context);
    return isFailure(planned) ? planned : planned.map(({ proposed }) => proposed);
  },
  async run(input, context) {
    const files = filesOf(input);
    if (isFailure(files)) return failed(files);
    const all = await planFiles(files, context);
    if (isFailure(all)) return failed(withNothingWritten(all));
    const { takePart } = await import("./take-part.ts");
    const taken = await takePart(all, context);
    if (isFailure(taken)) return failed(taken);
    const { planned, notes } = taken;
    const committed = await context.workspace.commit(planned.map((one) => one.change));
    if (isFailure(committed)) return failed(withNothingWritten(committed));
    const done = committed.map((one, i) => planned[i]?.done(one)).filter((one) => one !== undefined);
    return ok([...done.map((one) => one.text), ...notes].join("\n"), {
      changed: done.flatMap((one) => one.facts.changed ?? []),
      shown: done.flatMap((one) => one.facts.shown ?? []),
    });
  },
});

interface PatchInput {
  readonly patch: string;
}

/** Parsed patches by arguments: a call is asked for its effects before it runs. */
const parsed = new WeakMap<PatchInput, ReturnType<typeof parsePatch>>();

function filesOf(input: PatchInput): ReturnType<typeof parsePatch> {
  const files = parsed.get(input) ?? parsePatch(input);
  parsed.set(input, files);
  return files;
}

async function planFiles(
  files: readonly PatchFile[],
  context: ToolContext,
): Promise<readonly PlannedFile[] | Failure> {
  const { planPatchFile } = await import("./plan-patch.ts");
  const planned: PlannedFile[] = [];
  for (const file of files) {
    const secret = await refusePlaceholder(file.path, JSON.stringify(file), context);
    const one = secret ?? (await planPatchFile(file, context));
    if (isFailure(one)) return one;
    planned.push(one);
  }
  return planned;
}

function pathsOf(file: PatchFile): readonly string[] {
  return file.type === "update" && file.to !== undefined
    ? [targetOf(file.path), targetOf(file.to)]
    : [targetOf(file.path)];
}

function effectsOf(file: PatchFile): readonly Effect[] {
  const target = targetOf(file.path);
  switch (file.type) {
    case "add":
      return [{ kind: "write", target }];
    case "delete":
      return [
        { kind: "read", target },
        { kind: "delete", target },
      ];
    case "update":
      if (file.to === undefined) {
        return [
          { kind: "read", target },
          { kind: "write", target, ...(isShrinking(file.hunks) && { traits: ["replaces"] }) },
        ];
      }
      return [
        { kind: "read", target },
        { kind: "delete", target },
        { kind: "write", target: targetOf(file.to) },
      ];
  }
}

/** Whether it removes most of the text it names, which may be the whole file. */
function isShrinking(hunks: Extract<PatchFile, { type: "update" }>["hunks"]): boolean {
  const count = (of: "old" | "new"): number => hunks.reduce((sum, hunk) => sum + hunk[of].join("").length, 0);
  return count("new") * 2 < count("old");
}

function withNothingWritten(found: Failure): Failure {
  if (found.text.includes("Nothing was written.")) return found;
  return failure(found.code, `${found.text} Nothing was written.`);
}
