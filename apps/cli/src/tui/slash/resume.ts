/** `/resume`: resumes an earlier session of this folder. */
import { isFailure } from "@lathe/protocol";
import { moment } from "@lathe/terminal";
import type { Chat } from "../chat.ts";
import { showResumed } from "../resume-view.ts";
import type { SlashCommand } from "./slash-command.ts";

const most = 200;

export const resumeCommand: SlashCommand = {
  name: "resume",
  usage: "[ID]",
  about: "goes on with an earlier session of this folder",
  run: async (chat, words) => {
    const { findSession } = await import("@lathe/hosts/stored");
    const id = words === "" ? await chosen(chat) : await findSession(chat.options.env, words);
    if (id === undefined) return undefined;
    if (isFailure(id)) return id;
    return showResumed(chat, id);
  },
};

async function chosen(chat: Chat): Promise<string | undefined> {
  const { listSessions } = await import("@lathe/hosts/stored");
  const { env, cwd } = chat.options;
  const sessions = await listSessions(env, { cwd });
  const others = sessions
    .filter(({ id, agent }) => id !== chat.session?.id && agent === undefined)
    .slice(0, most);
  if (others.length === 0) {
    chat.print([chat.theme.dim("There is no other session of this folder.")]);
    return undefined;
  }
  const options = others.map(({ id, title, updatedAt }) => {
    return { label: title, about: `${moment(updatedAt)} ${id}`, value: id };
  });
  return chat.choose("Which session?", options);
}
