/** Slash command: a word behind a slash that the person says to Lathe, not to the agent. */
import type { Failure } from "@lathe/protocol";
import type { Chat } from "../chat.ts";

export interface SlashCommand {
  readonly name: string;
  /** What may follow it, as the help shows it. */
  readonly usage?: string;
  /** One line. */
  readonly about: string;
  /** *Contract:* resolves with lines to print, nothing, or why it was not done. */
  run(chat: Chat, words: string): Promise<readonly string[] | Failure | undefined>;
}
