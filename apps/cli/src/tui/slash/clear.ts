/** `/clear`: begins a new session with the next message. */
import type { SlashCommand } from "./slash-command.ts";

export const clearCommand: SlashCommand = {
  name: "clear",
  about: "the next words begin a new session",
  run: async (chat) => {
    const id = chat.session?.id;
    const refused = await chat.switchTo(async () => undefined);
    if (refused) return refused;
    return [
      "",
      chat.theme.dim(id === undefined ? "A new session." : `A new session. The one before: /resume ${id}`),
    ];
  },
};
