/** Checker: how one program is known to be a project's, what it is called with, and how its output is read. */
import { type Failure, failure, type Problem } from "@lathe/protocol";

/** What a checker printed before it ended by itself. */
export interface Ran {
  readonly output: string;
  readonly errors: string;
  readonly code: number;
}

export interface Reading {
  /** Paths as the checker wrote them. */
  readonly problems: readonly Problem[];
  /** What it did not look at, or was unsure of. */
  readonly notes?: readonly string[];
  /** Absolute paths of all files that it looked at, where it says so. */
  readonly files?: readonly string[];
  /** Absolute folders of all projects that it looked at, where it says so. */
  readonly projects?: readonly string[];
}

/** A file that says the checker is wanted, by its name alone or by what stands in it. */
export interface Mark {
  readonly file: RegExp;
  readonly says?: RegExp;
}

export interface Checker {
  readonly name: string;
  /** Names of files it knows. */
  readonly knows: RegExp;
  /** How soon it answers for one file, in steps: the lower the sooner. */
  readonly pace: number;
  readonly marks: readonly Mark[];
  /** Where its program lies: with the project's packages, in its virtual environment or the PATH, or in the PATH. */
  readonly home: "node" | "node-or-python" | "python" | "path";
  /** The program's name. */
  readonly program: string;
  /** *Contract:* pure; its arguments. `paths` from its folder, none for all; `settings` is the text of the mark. */
  words(paths: readonly string[], settings: string): readonly string[];
  /** Endings of the files that it may leave out without a word. */
  readonly leaves?: readonly string[];
  /** *Contract:* pure; whether what lies below a project with these settings, and has a mark, is a project of its own. */
  parts?(settings: string): boolean;
  /** *Contract:* pure; why a file with this text may not have been looked at. */
  doubt?(path: string, text: string): string | undefined;
  /** *Contract:* pure; a failure where it did not check. */
  read(ran: Ran): Reading | Failure;
  /** *Contract:* pure; files that it says it wrote for itself. */
  written?(ran: Ran): readonly string[];
}

/** Longest text of a checker's own complaint. */
const maxComplaint = 600;

/** It ended and said nothing that could be read. */
export function notChecked(name: string, { output, errors, code }: Ran): Failure {
  const said = [errors, output].map((text) => text.trim()).filter((text) => text !== "");
  const words = said.join("\n").slice(0, maxComplaint);
  return failure("tool-failed", `${name} did not check: it ended with code ${code}${words && `: ${words}`}`, {
    who: "tool",
  });
}

/** What stands in a field of what another program wrote. */
export function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

export function textField(value: unknown, name: string): string | undefined {
  const field = fieldOf(value, name);
  return typeof field === "string" ? field : undefined;
}

/** A whole number of at least 1; lines and columns are counted from there. */
export function countField(value: unknown, name: string): number {
  const field = fieldOf(value, name);
  return typeof field === "number" && Number.isFinite(field) ? Math.max(1, Math.floor(field)) : 1;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
