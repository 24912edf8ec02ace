/** `/context`: what takes how much of the model's window. */
import { isFailure } from "@lathe/protocol";
import { noSession } from "./no-session.ts";
import type { SharedCommand } from "./slash-command.ts";

export const contextCommand: SharedCommand = {
  name: "context",
  about: "what takes how much of the model's window",
  run: async (chat) => {
    if (!chat.session) return noSession;
    const [{ sessionContext }, { contextText }] = await Promise.all([
      import("@lathe/hosts/session-context"),
      import("../../sessions/context-command.ts"),
    ]);
    const report = await sessionContext(chat.options, chat.session.id);
    if (isFailure(report)) return report;
    const view = { paint: chat.theme, width: chat.width };
    return ["", ...contextText(report, view).trimEnd().split("\n")];
  },
};
