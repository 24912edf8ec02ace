/** Builds a completion script from the same table that parses the command line. */
import type { Command } from "../command-line/command.ts";
import { type CommandTable, namesOf } from "../command-line/command-names.ts";
import { bashScript } from "./bash-script.ts";
import { fishScript } from "./fish-script.ts";
import { lineShape } from "./line-shape.ts";
import { zshScript } from "./zsh-script.ts";

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };

const bare = { actions: [], words: undefined, flags: [] };

export async function completionScript(
  shell: "bash" | "zsh" | "fish",
  { commands, chat }: { readonly commands: CommandTable; readonly chat: Command },
): Promise<string> {
  const names = namesOf(commands);
  const shapes = await Promise.all(
    names.map(async (name) => {
      const command = await commands[name]?.();
      return command ? [lineShape(name, command)] : [];
    }),
  );
  const others = [
    { ...bare, name: "help", about: "what a command takes", words: names },
    { ...bare, name: "version", about: "print the version" },
  ];
  const bareLine = { ...lineShape("", chat), actions: [], words: undefined };
  return scripts[shell](bareLine, [...shapes.flat(), ...others]);
}
