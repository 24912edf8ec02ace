/** `apply_patch`: adds, changes, deletes and moves several files, all or none. */
import { applyPatchHunks, type PatchFile, parsePatch } from "@lathe/edits";
import {
  type Change,
  type Committed,
  type Effect,
  type Failure,
  failure,
  isFailure,
  type OutcomeFacts,
  type Tool,
  type ToolContext,
} from "@lathe/protocol";
import { changedFile } from "./changed-file.ts";
import { defineTool, failed, ok } from "./define-tool.ts";
import { linesOf } from "./numbered-lines.ts";
import { editFacts, editText, placesCount, planEdit } from "./plan-edit.ts";
import { text } from "./schema.ts";
import { targetOf } from "./target-of.ts";

export const applyPatch: Tool = defineTool({
  name: "apply_patch",
  description:
    "Change files with a patch, all of it or none: `*** Begin Patch`, then for each file `*** Update File: path` (optionally `*** Move to: path`) with hunks of `@@` and lines that begin with space, - or +; or `*** Add File: path` with + lines; or `*** Delete File: path`; then `*** End Patch`. Give 3 lines of context; `@@ line above` tells equal places apart.",
  schema: { patch: text() },
  problem({ patch }) {
    const files = parsePatch({ patch });
    if (isFailure(files)) return files.text;
    const paths = files.flatMap(pathsOf);
    const twice = paths.find((path, i) => paths.indexOf(path) < i);
    return twice === undefined ? undefined : `names ${twice} twice: join its hunks. Nothing was written.`;
  },
  effects: ({ patch }) => {
    const files = parsePatch({ patch });
    return isFailure(files) ? [] : files.flatMap(effectsOf);
  },
  async run({ patch }, context) {
    const files = parsePatch({ patch });
    if (isFailure(files)) return failed(files);
    const steps: Step[] = [];
    for (const file of files) {
      const step = await planFile(file, context);
      if (isFailure(step)) return failed(withNothingWritten(step));
      steps.push(step);
    }
    const committed = await context.workspace.commit(steps.map((step) => step.change));
    if (isFailure(committed)) return failed(withNothingWritten(committed));
    const done = committed.map((one, i) => steps[i]?.done(one)).filter((one) => one !== undefined);
    return ok(done.map((one) => one.text).join("\n"), {
      changed: done.flatMap((one) => one.facts.changed ?? []),
      shown: done.flatMap((one) => one.facts.shown ?? []),
    });
  },
});

/** One file's part, and what is told once all are committed. */
interface Step {
  readonly change: Change;
  done(committed: Committed): { readonly text: string; readonly facts: OutcomeFacts };
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
          { kind: "write", target },
        ];
      }
      return [
        { kind: "read", target },
        { kind: "delete", target },
        { kind: "write", target: targetOf(file.to) },
      ];
  }
}

async function planFile(file: PatchFile, context: ToolContext): Promise<Step | Failure> {
  switch (file.type) {
    case "add":
      return planAdd(file.path, file.text, context);
    case "delete":
      return planDelete(file.path, context);
    case "update":
      return file.hunks.length > 0 ? planUpdate(file, context) : planMove(file, context);
  }
}

function planAdd(path: string, fresh: string, context: ToolContext): Step {
  return {
    change: { type: "put", path, expected: null, text: fresh },
    done(one) {
      const version = one.after ?? "";
      const lines = linesOf(fresh).length;
      context.texts.keep(version, fresh);
      return {
        text: `Added ${one.path} (${lines} lines).`,
        facts: {
          changed: [changedFile(one, { before: undefined, after: fresh })],
          shown: [{ path: one.path, version, ranges: lines > 0 ? [[1, lines]] : [] }],
        },
      };
    },
  };
}

async function planDelete(path: string, context: ToolContext): Promise<Step | Failure> {
  const file = await context.workspace.read(path);
  if (isFailure(file)) return file;
  return {
    change: { type: "delete", path: file.path, expected: file.version },
    done: (one) => ({
      text: `Deleted ${one.path}.`,
      facts: { changed: [changedFile(one, { before: file.text, after: undefined })] },
    }),
  };
}

type Update = Extract<PatchFile, { type: "update" }>;

async function planUpdate({ path, to, hunks }: Update, context: ToolContext): Promise<Step | Failure> {
  const planned = await planEdit(path, context, (file) => applyPatchHunks(file, hunks));
  if (isFailure(planned)) return planned;
  const { file, applied } = planned;
  const head = to === undefined ? `Edited ${file.path}` : `Moved ${file.path} to ${to} and edited it`;
  const change = { path: file.path, expected: file.version, text: applied.text } as const;
  return {
    change: to === undefined ? { ...change, type: "put" } : { ...change, type: "move", to },
    done: (one) => ({
      text: editText(`${head} (${placesCount(applied)}).`, planned),
      facts: editFacts(planned, one, context),
    }),
  };
}

async function planMove({ path, to = path }: Update, context: ToolContext): Promise<Step | Failure> {
  const file = await context.workspace.read(path);
  if (isFailure(file)) return file;
  return {
    change: { type: "move", path: file.path, to, expected: file.version },
    done: (one) => ({
      text: `Moved ${file.path} to ${one.path}.`,
      facts: { changed: [changedFile(one, { before: file.text, after: file.text })] },
    }),
  };
}

function withNothingWritten(found: Failure): Failure {
  if (found.text.includes("Nothing was written.")) return found;
  return failure(found.code, `${found.text} Nothing was written.`);
}
