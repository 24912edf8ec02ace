/** The result of a person's shell command, for the person and for the model. */

import { type Failure, isFailure, type Outcome } from "@lathe/protocol";
import type { OpenSession } from "@lathe/sessions";
import { callLines, scrolled, type Theme } from "@lathe/terminal";

/** The most characters that go to the model with the next message. */
const maxTold = 8_000;

export interface TypedOutput {
  readonly lines: readonly string[];
  /** Absent if the model gets nothing. */
  readonly told?: string;
}

interface View {
  readonly theme: Theme;
  readonly width: number;
}

/** *Contract:* runs the command and reports the result; reads `view` when it has ended. */
export async function ranTyped(
  runner: Pick<OpenSession, "command"> | Failure,
  { script, signal }: { readonly script: string; readonly signal: AbortSignal },
  view: View,
): Promise<TypedOutput> {
  const startedAt = performance.now();
  const outcome: Outcome = isFailure(runner)
    ? { type: "failed", failure: runner }
    : await runner.command(script, signal);
  return typedOutput(script, { outcome, ms: performance.now() - startedAt }, view);
}

function typedOutput(
  script: string,
  { outcome, ms }: { readonly outcome: Outcome; readonly ms: number },
  { theme, width }: View,
): TypedOutput {
  const [head = "", ...body] = callLines({ tool: "!", target: script, outcome, ms }, { paint: theme, width });
  const text = outcome.type === "ok" || outcome.type === "interrupted" ? outcome.text.trimEnd() : "";
  // Shows the output in full: the person asked for it.
  const lines = ["", head, ...(text === "" ? body : scrolled(text, theme))];
  if (text === "" && outcome.type !== "ok") return { lines };
  const output =
    text.length > maxTold ? `${text.slice(0, maxTold / 2)}\n…\n${text.slice(-maxTold / 2)}` : text;
  return { lines, told: `I ran \`${script}\`:\n\`\`\`\n${output}\n\`\`\`` };
}
