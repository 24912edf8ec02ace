/** The chat view port: what the chat needs of the screen. */
import type { Theme } from "@lathe/terminal";

export interface ChatView {
  readonly width: () => number;
  readonly theme: () => Theme;
  /** *Contract:* called after anything changed; often. */
  changed(): void;
  /** *Contract:* puts words where the person types, who may change them, unless there are some. Not where lines are plain. */
  redraft?(text: string): void;
  /** *Contract:* for the terminal itself, which shows nothing of it; false while another program has it. */
  toTerminal?(sequence: string): boolean;
}
