/** One command of the command line, and the help built from it. */

import type { Flags, ValueKind } from "@lathe/config";
import type { Failure } from "@lathe/protocol";
import { wrap } from "@lathe/terminal";

export interface Command {
  readonly name: string;
  /** One line for the list of commands. */
  readonly about: string;
  /** The arguments after `lathe`, one line per form; a lower-case word after the name is an action. */
  readonly usage: readonly string[];
  readonly flags: Flags;
  /** The kind of values for an ID or a NAME in the usage, for completions. */
  readonly words?: ValueKind;
  /**
   * Extra help below the flags; each line is a paragraph, and one that begins with a space is not wrapped.
   */
  readonly notes?: string;
  /** The exit code of a failure, for commands where 1 is an answer. */
  readonly failed?: number;
  /** Resolves with the exit code. */
  run(argv: readonly string[]): Promise<number | Failure>;
}

/** Columns of the help, whatever the terminal's width. */
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

/** Replaces a space at which no line may break. */
const held = "\uE000";

/** One form of the usage, whose brackets are never split. */
function hanging(first: string, form: string, more: string): readonly string[] {
  const text = `lathe ${form}`.replace(/\[[^[\]]*\]/g, (option) => option.replaceAll(" ", held));
  return wrap(text, width - more.length).map(
    (line, i) => `${i === 0 ? first : more}${line.replaceAll(held, " ")}`,
  );
}
