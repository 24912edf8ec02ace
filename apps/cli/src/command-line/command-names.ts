/** Command names: what of a table of commands is for people. */
import type { Command } from "./command.ts";

export type CommandTable = Readonly<Record<string, () => Promise<Command>>>;

/** Two underscores begin what other programs call. */
export function namesOf(table: CommandTable): readonly string[] {
  return Object.keys(table).filter((name) => !name.startsWith("__"));
}
