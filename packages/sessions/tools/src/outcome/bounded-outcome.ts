/** Shortens an outcome for the model: the whole text goes to a blob, head and tail are shown. */
import { headOf, isFailure, type Outcome, type ToolContext, tailOf } from "@lathe/protocol";

/** Characters shown of a text that is too long. */
const previewChars = 16_000;
/** The share of the preview for failures in the omitted part, and its least number of characters. */
const signalShare = 0.1;
const leastSignalChars = 3_000;
const maxSignalChars = 8_000;

/** `wholeChars`: the longest text that is shown in full. */
export async function boundedOutcome(
  outcome: Outcome,
  context: ToolContext,
  wholeChars: number = 20_000,
): Promise<Outcome> {
  if (outcome.type !== "ok" && outcome.type !== "interrupted") return outcome;
  const { text } = outcome;
  if (text.length <= wholeChars) return outcome;
  const blob = await context.blobs.put(text);
  const where = isFailure(blob)
    ? "the rest is lost: it could not be stored"
    : `read or grep path "blob:${blob}" for the rest`;
  const short = await preview(text, where, context.workspace.root);
  return isFailure(blob) ? { ...outcome, text: short } : { ...outcome, text: short, blob };
}

async function preview(text: string, where: string, cwd: string): Promise<string> {
  const half = previewChars / 2;
  const headEnd = text.lastIndexOf("\n", half);
  const head = headEnd > half / 2 ? text.slice(0, headEnd) : headOf(text, half);
  const tailStart = text.indexOf("\n", text.length - half) + 1;
  const tail =
    tailStart > 0 && text.length - tailStart > half / 2 ? text.slice(tailStart) : tailOf(text, half);
  const middle = text.slice(head.length, text.length - tail.length);
  // Loaded only for a text that is too long.
  const { leftOutText } = await import("@lathe/context/signals");
  const chars = Math.min(maxSignalChars, Math.max(leastSignalChars, text.length * signalShare));
  const signals = leftOutText(middle, text, { cwd, chars });
  const told = signals === "" ? "" : `[in what is left out:]\n${signals}\n`;
  return `${head}\n[... ${middle.length} of ${text.length} characters left out; ${where} ...]\n${told}${tail}`;
}
