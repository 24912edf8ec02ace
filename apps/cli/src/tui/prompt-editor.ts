/** The editor of prompts: between rules that are no wider than the narrowest terminal. */
import { Editor } from "@earendil-works/pi-tui/dist/components/editor.js";

/** A terminal that is made narrower breaks longer ones, and scrolls by as many lines (tmux). */
const ruleWidth = 40;

export class PromptEditor extends Editor {
  protected override renderTopBorder(width: number, hidden: number): string {
    return super.renderTopBorder(Math.min(width, ruleWidth), hidden);
  }

  protected override renderBottomBorder(width: number, hidden: number): string {
    return super.renderBottomBorder(Math.min(width, ruleWidth), hidden);
  }
}
