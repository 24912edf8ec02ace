/** Command: one word of the command line, and the help that is made of it. */
import type { Failure } from "@lathe/protocol";
import type { Flags } from "./flags.ts";

export interface Command {
  readonly name: string;
  /** One line, as in the list of commands. */
  readonly about: string;
  /** What follows `lathe`, one line per form. */
  readonly usage: readonly string[];
  readonly flags: Flags;
  /** More to know, below the flags. */
  readonly notes?: string;
  /** Resolves with the exit code. */
  run(argv: readonly string[]): Promise<number | Failure>;
}

/** The text of `lathe NAME --help`. */
export function helpOf(command: Command): string {
  const usage = command.usage.map((form) => `  lathe ${form}`).join("\n");
  const heads = Object.entries(command.flags).map(([name, flag]) => {
    const short = flag.short ? `-${flag.short}, ` : "";
    const value = flag.optional ? `[=${flag.value}]` : ` ${flag.value ?? ""}`;
    return [`  ${short}--${name}${value.trimEnd()}`, flag.about] as const;
  });
  const width = Math.max(...heads.map(([head]) => head.length));
  const flags = heads.map(([head, about]) => `${head.padEnd(width)}  ${about}`).join("\n");
  const notes = command.notes ? `\n${command.notes}\n` : "";
  return `${command.about}\n\nUsage:\n${usage}\n\nOptions:\n${flags}\n${notes}`;
}
