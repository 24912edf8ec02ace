/** What came of a command that a person typed: as lines, and as the model is told with the next words. */
import type { Outcome } from "@lathe/protocol";
import { callLines } from "../render/call-lines.ts";
import { harmless } from "../render/fit.ts";
import type { Palette } from "../render/palette.ts";

/** Output that goes to the model. */
const mostTold = 8_000;

export interface Ran {
  readonly script: string;
  readonly outcome: Outcome;
  readonly ms: number;
}

/** `told` is absent where nothing came of it. */
export function typedText(
  { script, outcome, ms }: Ran,
  view: { readonly paint: Palette; readonly width: number },
): { readonly lines: readonly string[]; readonly told?: string } {
  const [head = "", ...body] = callLines({ tool: "!", target: script, outcome, ms }, view);
  const text = outcome.type === "ok" || outcome.type === "interrupted" ? outcome.text.trimEnd() : "";
  // All of it: the person asked to see it.
  const said =
    text === ""
      ? body
      : harmless(text)
          .split("\n")
          .map((line) => `    ${line}`);
  const lines = ["", head, ...said];
  if (text === "" && outcome.type !== "ok") return { lines };
  const output =
    text.length > mostTold ? `${text.slice(0, mostTold / 2)}\n…\n${text.slice(-mostTold / 2)}` : text;
  return { lines, told: `I ran \`${script}\`:\n\`\`\`\n${output}\n\`\`\`` };
}
