/** `/name`: what the session is called. */
import { nameSession } from "@lathe/hosts/name-session";
import type { SharedCommand } from "./conversation.ts";
import { noSession } from "./no-session.ts";

export const nameCommand: SharedCommand = {
  name: "name",
  usage: "NAME",
  about: "gives the session a name, by which it is found again",
  run: async (chat, words) => {
    if (!chat.session) return noSession;
    const refused = await nameSession(chat.options.env, chat.session.id, words);
    if (refused) return refused;
    // Whoever has the session writes it down; when nothing runs, that is now.
    if (!chat.isWorking) await chat.drive();
    return [chat.theme.dim(`The session is called ${words}.`)];
  },
};
