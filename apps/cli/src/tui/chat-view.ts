/** The screen that a chat needs, as a port. */
import type { Theme } from "@lathe/terminal";

export interface ChatView {
  readonly width: () => number;
  readonly theme: () => Theme;
  /** *Contract:* called after every change; often. */
  changed(): void;
  /** *Contract:* puts text into an empty editor, where the person can change it. Absent on plain screens. */
  redraft?(text: string): void;
  /** *Contract:* sends an invisible sequence to the terminal; false while another program has it. */
  toTerminal?(sequence: string): boolean;
}
