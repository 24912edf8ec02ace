/** Typed output: what came of a shell command of the person's own, for them and for the model. */
import type { Outcome } from "@lathe/protocol";
import { callLines } from "../render/call-lines.ts";
import { harmless } from "../render/fit.ts";
import type { Theme } from "./theme.ts";

/** Characters that go to the model with the next words. */
const mostTold = 8_000;

export interface TypedOutput {
  readonly lines: readonly string[];
  /** Absent where there is nothing to tell. */
  readonly told?: string;
}

export function typedOutput(
  script: string,
  { outcome, ms }: { readonly outcome: Outcome; readonly ms: number },
  view: { readonly paint: Theme; readonly width: number },
): TypedOutput {
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
