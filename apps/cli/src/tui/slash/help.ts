/** `/help`: lists the commands and the keys. */
import { listCommands } from "@lathe/extensions/commands";
import { fit, wrap } from "@lathe/terminal";
import { chatKeys } from "./chat-keys.ts";
import type { SlashCommand } from "./slash-command.ts";

const keys: readonly (readonly [string, string])[] = [
  ["Enter", "says it; while the agent works it hears it between two steps"],
  ["Ctrl-J, Shift-Enter, \\ Enter", "a new line"],
  ["@", "a file of the project; the path of an image shows it to the model"],
  ...chatKeys.map(({ name, about }) => [name, about] as const),
  ["!COMMAND", "runs a command of your own in the sandbox; with & behind it in the background"],
  ["Up, Down", "what you said before, in this project"],
  ["Esc", "interrupts the agent"],
  ["Esc twice", "goes back to before a step, as /rewind does; clears what was typed"],
  ["Ctrl-C twice, Ctrl-D", "leaves"],
];

const none = ["", ""] as const;
/** The most columns for a command from a file. */
const most = { head: 30, about: 100 };

export function helpCommand(all: () => readonly SlashCommand[]): SlashCommand {
  return {
    name: "help",
    about: "these commands, and the keys",
    run: async (chat) => {
      const { bold } = chat.theme;
      const commands = all().map(({ name, usage = "", about }) => [`/${name} ${usage}`, about] as const);
      // A command's file may be long: show only the first line.
      const customs = (await listCommands(chat.options))
        .filter(({ name }) => !all().some((one) => one.name === name))
        .map(
          ({ name, about, hint = "" }) =>
            [fit(`/${name} ${hint}`, most.head), fit(about, most.about)] as const,
        );
      const rows = [...commands, none, ...customs, none, ...keys];
      const heads = Math.max(...rows.map(([head]) => head.length));
      const room = Math.max(20, chat.width - heads - 4);
      const lines = rows.flatMap(([head, about]) => {
        const [first = "", ...more] = wrap(about, room);
        const rest = more.map((line) => `${" ".repeat(heads + 4)}${line}`);
        return [`  ${bold(head.padEnd(heads))}  ${first}`.trimEnd(), ...rest];
      });
      return ["", ...lines];
    },
  };
}
