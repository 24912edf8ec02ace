/** `lathe sessions diff`: what a session changed. */
import { findSession } from "@lathe/hosts/local";
import { type SessionFile, sessionChanges } from "@lathe/hosts/session-changes";
import { type Failure, type FileDifference, isFailure } from "@lathe/protocol";
import { diffCounts, diffLines } from "../render/diff.ts";
import { harmless } from "../render/fit.ts";
import { type Palette, paletteFor } from "../render/palette.ts";
import { table } from "../render/table.ts";

/** Lines shown of one file's difference. */
const fileLines = 2_000;

export async function diffCommand(start: string, json: boolean): Promise<number | Failure> {
  const id = await findSession(process.env, start);
  if (isFailure(id)) return id;
  const changes = await sessionChanges(process.env, id);
  if (isFailure(changes)) return changes;
  const { files, isOpen, unkept } = changes;
  if (json) {
    process.stdout.write(`${JSON.stringify(files)}\n`);
    return 0;
  }
  const paint = paletteFor(process.stdout, process.env);
  if (files.length === 0) {
    const none = unkept ? `No checkpoints: ${unkept.text}` : "The session changed no files.";
    process.stdout.write(`${none}\n`);
    return 0;
  }
  const texts = files.flatMap((file) => fileText(file, paint));
  const notes = [
    ...(isOpen ? ["Its last turn was cut off: this holds what has changed since, by anybody."] : []),
    ...(unkept ? [`Not all of it could be kept: ${harmless(unkept.text)}`] : []),
  ];
  process.stdout.write(`${[...notes.map(paint.yellow), ...texts, ""].join("\n")}\n${summary(files, paint)}`);
  return 0;
}

function fileText(
  { path, kind, diff, binary, before, after, others }: SessionFile,
  paint: Palette,
): readonly string[] {
  const modes =
    before && after && before.mode !== after.mode ? ` ${octal(before.mode)} → ${octal(after.mode)}` : "";
  const also = others ? paint.yellow(` (${othersTexts[others]})`) : "";
  const head = paint.bold(`${marks[kind]} ${harmless(path)}${modes}`) + also;
  if (diff !== undefined) return [head, ...diffLines(diff, paint, fileLines)];
  return [head, ...(kind === "mode" ? [] : [paint.dim(binary ? "  binary" : "  too long to show")])];
}

const othersTexts: Readonly<Record<NonNullable<SessionFile["others"]>, string>> = {
  yes: "changed by somebody else as well",
  perhaps: "perhaps changed by somebody else as well",
};

const marks: Readonly<Record<FileDifference["kind"], string>> = {
  added: "A",
  modified: "M",
  deleted: "D",
  mode: "m",
};

function octal(mode: number): string {
  return mode.toString(8).padStart(4, "0");
}

function summary(files: readonly FileDifference[], { dim, green, red }: Palette): string {
  const rows = files.map((file) => {
    const { added, removed } = diffCounts(file.diff ?? "");
    return [`${marks[file.kind]} ${harmless(file.path)}`, green(`+${added}`), red(`-${removed}`)];
  });
  return table(rows) + dim(`${files.length} ${files.length === 1 ? "file" : "files"}\n`);
}
