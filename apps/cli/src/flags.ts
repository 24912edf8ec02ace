/** Flags: what a command takes on its line, and reading it. */
import { parseArgs } from "node:util";
import { type Failure, failure } from "@lathe/protocol";
import { nearest } from "./nearest.ts";

export interface Flag {
  readonly type: "string" | "boolean";
  readonly short?: string;
  readonly multiple?: boolean;
  /** How the value is called in the help. */
  readonly value?: string;
  readonly about: string;
}

export type Flags = Readonly<Record<string, Flag>>;

type ValueOf<F extends Flag> = F["type"] extends "boolean"
  ? boolean | undefined
  : F["multiple"] extends true
    ? readonly string[] | undefined
    : string | undefined;

export interface Line<F extends Flags> {
  readonly values: { readonly [Name in keyof F]: ValueOf<F[Name]> };
  readonly words: readonly string[];
}

/** Reads a command's line; a failure says what is wrong and what was probably meant. */
export function readFlags<const F extends Flags>(argv: readonly string[], flags: F): Line<F> | Failure {
  try {
    const { values, positionals } = parseArgs({ args: [...argv], options: flags, allowPositionals: true });
    return { values: values as unknown as Line<F>["values"], words: positionals };
  } catch (cause) {
    return failure("invalid-arguments", problemOf(cause, argv, flags), { who: "user", cause });
  }
}

function problemOf(cause: unknown, argv: readonly string[], flags: Flags): string {
  const { code, message } = cause as { code?: string; message: string };
  if (code !== "ERR_PARSE_ARGS_UNKNOWN_OPTION") return (message.split(". ")[0] ?? message).trim();
  const unknown = /'(-[^' ]*)/.exec(message)?.[1] ?? argv.find((word) => word.startsWith("-")) ?? "";
  const names = Object.keys(flags).map((name) => `--${name}`);
  const meant = nearest(unknown, names);
  return `unknown option ${unknown}${meant ? `; did you mean ${meant}?` : ""}`;
}

/** A flag's value as a number from `least` up; undefined when it was not given. */
export function numberFlag(
  name: string,
  text: string | undefined,
  least: number,
): number | undefined | Failure {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() !== "" && Number.isFinite(value) && value >= least) return value;
  return failure("invalid-arguments", `--${name} takes a number from ${least} up, not "${text}"`, {
    who: "user",
  });
}
