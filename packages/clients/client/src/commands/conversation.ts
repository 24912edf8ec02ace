/** Conversation: what a slash command needs of the place where a person talks to the agent, a terminal or an editor. */
import type { AgentOptions } from "@lathe/config";
import type { Effort, Failure, Mode } from "@lathe/protocol";
import type { OpenSession as LocalSession, Words } from "@lathe/sessions";
import type { Theme } from "@lathe/terminal";
import type { Option } from "@lathe/terminal/choice";

export interface Conversation {
  readonly options: AgentOptions;
  /** Undefined until something was said. */
  readonly session: LocalSession | undefined;
  readonly theme: Theme;
  /** Columns. */
  readonly width: number;
  /** Whether a turn is running. */
  readonly isWorking: boolean;
  /** The commands in the background, the agent's and the person's. */
  processes(): ReturnType<LocalSession["processes"]>;
  print(lines: readonly string[]): void;
  /** *Contract:* resolves with an option's value; undefined when nothing was chosen. */
  choose(title: string, options: readonly Option[]): Promise<string | undefined>;
  /** *Contract:* says words to the agent: begins a turn, or steers the one that runs. */
  say(text: string): Promise<void>;
  /** *Contract:* says the words, if any, and drives until no turn is open. */
  drive(words?: Words): Promise<void>;
  /** *Contract:* returns the mode that holds then; undefined: the one before plan mode. */
  setMode(mode: Mode | undefined): Mode;
  /** How much the model may think, if somebody chose it. */
  readonly effort: Effort | undefined;
  setEffort(effort: Effort | undefined): void;
  /** *Contract:* a failure changes nothing. */
  setModel(model: string): Promise<Failure | undefined>;
  status(): { readonly model: string };
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
  run(chat: Conversation, words: string): Promise<readonly string[] | Failure | undefined>;
}
