/** Command context: what a slash command needs of the client where it was typed, a terminal or an editor. */
import type { Failure } from "@lathe/protocol";
import type { Words } from "@lathe/sessions";
import type { Theme } from "@lathe/terminal";
import type { Option } from "@lathe/terminal/choice";
import type { Conversation } from "../conversation/conversation.ts";
import type { BackgroundProcess } from "../texts/process-title.ts";

export interface CommandContext {
  readonly conversation: Conversation;
  readonly theme: Theme;
  /** Columns. */
  readonly width: number;
  /** Whether a turn or other work of this client is running. */
  readonly isWorking: boolean;
  /** The commands in the background, the agent's and the person's. */
  processes(): readonly BackgroundProcess[];
  print(lines: readonly string[]): void;
  /** *Contract:* resolves with an option's value; undefined when nothing was chosen. */
  choose(title: string, options: readonly Option[]): Promise<string | undefined>;
  /** *Contract:* says words to the agent: begins a turn, or steers the one that runs. */
  say(text: string): Promise<void>;
  /** *Contract:* says the words, if any, and drives until no turn is open. */
  drive(words?: Words): Promise<void>;
}

export interface CommandAbout {
  readonly name: string;
  /** What may follow it, as the help shows it. */
  readonly usage?: string;
  /** One line. */
  readonly about: string;
}

/** A slash command that works wherever a person talks to the agent. */
export interface SharedCommand extends CommandAbout {
  /** *Contract:* resolves with lines to print, nothing, or why it was not done. */
  run(chat: CommandContext, words: string): Promise<readonly string[] | Failure | undefined>;
}
