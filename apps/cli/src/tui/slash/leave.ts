/** `/quit`: leaves the chat. */
import type { SlashCommand } from "./slash-command.ts";

export const leaveCommand: SlashCommand = {
  name: "quit",
  about: "leaves; the session can be gone on with later",
  run: async (chat) => {
    void chat.leave();
    return undefined;
  },
};
