/** `/help`: the commands, and the keys. */
import { table } from "../../render/table.ts";
import type { SlashCommand } from "./slash-command.ts";

const keys: readonly (readonly [string, string])[] = [
  ["Enter", "says it; while the agent works it hears it between two steps"],
  ["Ctrl-J, Shift-Enter, \\ Enter", "a new line"],
  ["@", "a file of the project; the path of an image shows it to the model"],
  ["!COMMAND", "runs a command of your own in the sandbox"],
  ["Up, Down", "what you said before, in this project"],
  ["Esc", "interrupts the agent"],
  ["Ctrl-C twice, Ctrl-D", "leaves"],
];

export function helpCommand(all: () => readonly SlashCommand[]): SlashCommand {
  return {
    name: "help",
    about: "these commands, and the keys",
    run: async (chat) => {
      const { bold, dim } = chat.theme;
      const commands = all().map(({ name, usage = "", about }) => [`  ${bold(`/${name}`)} ${usage}`, about]);
      const rows = [...commands, [""], ...keys.map(([key, about]) => [`  ${bold(key)}`, dim(about)])];
      return ["", ...table(rows).trimEnd().split("\n")];
    },
  };
}
