/** `/diff`: what the session changed. */
import { isFailure } from "@lathe/protocol";
import { changesText } from "../texts/changes-text.ts";
import type { SharedCommand } from "./conversation.ts";
import { noSession } from "./no-session.ts";

export const diffCommand: SharedCommand = {
  name: "diff",
  about: "what the session changed in your files",
  run: async (chat) => {
    if (!chat.session) return noSession;
    const { sessionChanges } = await import("@lathe/hosts/stored");
    const changes = await sessionChanges(chat.options.env, chat.session.id);
    return isFailure(changes) ? changes : ["", ...changesText(changes, chat.theme).trimEnd().split("\n")];
  },
};
