/** Plans the files of a patch one by one: nothing is written until all of them fit. */
import { applyPatchHunks, type PatchFile } from "@lathe/edits";
import { type Failure, type FileContent, failure, isFailure, type ToolContext } from "@lathe/protocol";
import { linesOf } from "../finding/numbered-lines.ts";
import { targetOf } from "../target-of.ts";
import { changedFile } from "./changed-file.ts";
import { refuseStale } from "./freshness.ts";
import { planEdit, plannedFile } from "./plan-edit.ts";
import type { PlannedFile } from "./planned-file.ts";

export async function planPatchFile(file: PatchFile, context: ToolContext): Promise<PlannedFile | Failure> {
  switch (file.type) {
    case "add":
      return planAdd(file.path, file.text, context);
    case "delete":
      return planDelete(file, context);
    case "update":
      return file.hunks.length > 0 ? planUpdate(file, context) : planMove(file, context);
  }
}

function planAdd(path: string, fresh: string, context: ToolContext): PlannedFile {
  return {
    change: { type: "put", path, expected: null, text: fresh },
    proposed: { path: targetOf(path), version: null, after: fresh },
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

type Delete = Extract<PatchFile, { type: "delete" }>;

/** Uses the path as written: it may be a link, which must not be replaced by the file behind it. */
async function planDelete(
  { path, hunks = [] }: Delete,
  context: ToolContext,
): Promise<PlannedFile | Failure> {
  const file = await context.workspace.read(path);
  if (isFailure(file)) return file;
  const refused = hunks.length > 0 ? notAllOf(file, hunks) : await refuseStale(file, context);
  if (refused) return refused;
  context.texts.keep(file.version, file.text);
  return {
    change: { type: "delete", path, expected: file.version },
    proposed: { path: targetOf(path), version: file.version, before: file.text },
    done: (one) => ({
      text: `Deleted ${one.path}.`,
      facts: { changed: [changedFile(one, { before: file.text, after: undefined })] },
    }),
  };
}

/** A diff that names every line of a file may delete it without having read it. */
function notAllOf({ path, text }: FileContent, hunks: NonNullable<Delete["hunks"]>): Failure | undefined {
  const applied = applyPatchHunks({ path, text }, hunks);
  if (isFailure(applied)) return { ...applied, text: `${path}: ${applied.text}` };
  if (applied.text === "") return undefined;
  const left = linesOf(applied.text).length;
  const what = `${path}: the diff deletes the file, which holds ${left} more ${left === 1 ? "line" : "lines"} than it removes`;
  return failure("no-match", `${what}: read it again. Nothing was written.`);
}

type Update = Extract<PatchFile, { type: "update" }>;

async function planUpdate({ path, to, hunks }: Update, context: ToolContext): Promise<PlannedFile | Failure> {
  const planned = await planEdit(path, context, (file) => applyPatchHunks(file, hunks));
  if (isFailure(planned)) return planned;
  return plannedFile(planned, { target: targetOf(path), path, to }, context);
}

async function planMove({ path, to = path }: Update, context: ToolContext): Promise<PlannedFile | Failure> {
  const file = await context.workspace.read(path);
  if (isFailure(file)) return file;
  context.texts.keep(file.version, file.text);
  const known = context.shown(file.path).findLast((one) => one.version === file.version);
  return {
    change: { type: "move", path, to, expected: file.version },
    proposed: {
      path: targetOf(path),
      to: targetOf(to),
      version: file.version,
      before: file.text,
      after: file.text,
    },
    done: (one) => ({
      text: `Moved ${file.path} to ${one.path}.`,
      facts: {
        changed: [changedFile(one, { before: file.text, after: file.text })],
        shown: known ? [{ ...known, path: one.path }] : [],
      },
    }),
  };
}
