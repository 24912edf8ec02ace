/** The editor of prompts: between rules that are no wider than the narrowest terminal. */
import { Editor } from "@earendil-works/pi-tui/dist/components/editor.js";
import type { TUI } from "@earendil-works/pi-tui/dist/tui.js";

/** What it stands on. */
export interface EditorHost {
  /** Lines of the terminal. */
  rows(): number;
  paint(name: "dim" | "cyan", text: string): string;
  /** *Contract:* called when it has to be drawn again. */
  changed(): void;
}

/** A terminal that is made narrower breaks longer ones, and scrolls by as many lines (tmux). */
const ruleWidth = 40;

export class PromptEditor extends Editor {
  constructor({ rows, paint, changed }: EditorHost) {
    // Of a renderer the editor wants its height, and to be drawn again.
    const host = {
      terminal: {
        get rows() {
          return rows();
        },
      },
      requestRender: changed,
    } as unknown as TUI;
    const dim = (text: string): string => paint("dim", text);
    const cyan = (text: string): string => paint("cyan", text);
    const selectList = {
      selectedPrefix: cyan,
      selectedText: cyan,
      description: dim,
      scrollInfo: dim,
      noMatch: dim,
    };
    super(host, { borderColor: dim, selectList });
  }

  protected override renderTopBorder(width: number, hidden: number): string {
    return super.renderTopBorder(Math.min(width, ruleWidth), hidden);
  }

  protected override renderBottomBorder(width: number, hidden: number): string {
    return super.renderBottomBorder(Math.min(width, ruleWidth), hidden);
  }
}
