/** Slash command: a word behind a slash that the person says to Lathe, not to the agent. */
import type { CommandAbout } from "@lathe/client";
import type { Failure } from "@lathe/protocol";
import type { Chat } from "../chat.ts";

export interface SlashCommand extends CommandAbout {
  /** *Contract:* resolves with lines to print, nothing, or why it was not done. */
  run(chat: Chat, words: string): Promise<readonly string[] | Failure | undefined>;
}
