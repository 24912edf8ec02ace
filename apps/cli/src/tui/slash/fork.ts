/** `/fork`: continues in a new session; the present one stays unchanged. */
import { noSession } from "@lathe/client";
import type { SlashCommand } from "./slash-command.ts";

export const forkCommand: SlashCommand = {
  name: "fork",
  about: "goes on in a new session with this conversation; this one stays as it is",
  run: async (chat) => {
    const { session, options } = chat;
    if (!session) return noSession;
    const { forkSession } = await import("@lathe/hosts/stored");
    const { id } = session;
    const refused = await chat.switchTo(() => forkSession(options.env, id, { version: options.version }));
    if (refused) return refused;
    return [
      chat.theme.dim(`A fork of ${id}: ${chat.session?.id}. Files are not forked. Back: /resume ${id}`),
    ];
  },
};
