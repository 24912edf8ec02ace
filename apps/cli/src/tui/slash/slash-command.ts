/** Slash command: a word behind a slash that the person says to Lathe, not to the agent. */
import type { Failure } from "@lathe/protocol";
import type { Chat } from "../chat.ts";

type Shared =
  | "options"
  | "session"
  | "theme"
  | "width"
  | "isWorking"
  | "processes"
  | "print"
  | "choose"
  | "say"
  | "drive"
  | "setMode"
  | "effort"
  | "setEffort"
  | "setModel";

/** What of a chat there is wherever a person talks to the agent, an editor included. */
export interface Conversation extends Pick<Chat, Shared> {
  status(): Pick<ReturnType<Chat["status"]>, "model">;
}

interface About {
  readonly name: string;
  /** What may follow it, as the help shows it. */
  readonly usage?: string;
  /** One line. */
  readonly about: string;
}

export interface SlashCommand extends About {
  /** *Contract:* resolves with lines to print, nothing, or why it was not done. */
  run(chat: Chat, words: string): Promise<readonly string[] | Failure | undefined>;
}

/** One that works wherever a person talks to the agent. */
export interface SharedCommand extends About {
  /** *Contract:* as that of a slash command. */
  run(chat: Conversation, words: string): Promise<readonly string[] | Failure | undefined>;
}
