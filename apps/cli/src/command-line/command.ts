/** Command: one word of the command line, and the help that is made of it. */

import type { Flags, ValueKind } from "@lathe/config";
import type { Failure } from "@lathe/protocol";
import { wrap } from "@lathe/terminal";

export interface Command {
  readonly name: string;
  /** One line, as in the list of commands. */
  readonly about: string;
  /** What follows `lathe`, one line per form; a word in small letters after the name is an action. */
  readonly usage: readonly string[];
  readonly flags: Flags;
  /** What an ID or a NAME in the usage is one of, for completions. */
  readonly words?: ValueKind;
  /** More to know, below the flags; a line is a paragraph, one that begins with a blank stays as it is. */
  readonly notes?: string;
  /** The exit code of a failure that would have 1, where 1 is an answer. */
  readonly failed?: number;
  /** Resolves with the exit code. */
  run(argv: readonly string[]): Promise<number | Failure>;
}

/** Columns of the help, whatever the terminal has. */
const width = 80;

/** The text of `lathe NAME --help`. */
export function helpOf(command: Command): string {
  const usage = command.usage.flatMap((form) => hanging("  ", form, "      "));
  const heads = Object.entries(command.flags).map(([name, flag]) => {
    const short = flag.short ? `-${flag.short}, ` : "";
    const value = flag.optional ? `[=${flag.value}]` : ` ${flag.value ?? ""}`;
    return [`  ${short}--${name}${value.trimEnd()}`, flag.about] as const;
  });
  const column = Math.max(...heads.map(([head]) => head.length)) + 2;
  const flags = heads.flatMap(([head, about]) =>
    wrap(about, width - column).map((line, i) => `${(i === 0 ? head : "").padEnd(column)}${line}`),
  );
  const notes = (command.notes ?? "").split("\n").flatMap((line) => {
    return line.startsWith(" ") ? [line] : wrap(line, width);
  });
  const parts = [wrap(command.about, width), ["Usage:", ...usage], ["Options:", ...flags], notes];
  return parts
    .filter((lines) => lines.length > 0)
    .map((lines) => `${lines.join("\n")}\n`)
    .join("\n");
}

/** Stands for a blank at which no line is broken. */
const held = "\uE000";

/** A form of the usage, with its brackets whole. */
function hanging(first: string, form: string, more: string): readonly string[] {
  const text = `lathe ${form}`.replace(/\[[^[\]]*\]/g, (option) => option.replaceAll(" ", held));
  return wrap(text, width - more.length).map(
    (line, i) => `${i === 0 ? first : more}${line.replaceAll(held, " ")}`,
  );
}
