/** The commands of a table that are for people. */
import type { Command } from "./command.ts";

export type CommandTable = Readonly<Record<string, () => Promise<Command>>>;

/** Two leading underscores mark commands for other programs. */
export function namesOf(table: CommandTable): readonly string[] {
  return Object.keys(table).filter((name) => !name.startsWith("__"));
}
