/** Keeps what the model reads of an outcome short: the whole text goes to a blob, head and tail are shown. */
import { isFailure, type Outcome, type ToolContext } from "@lathe/protocol";

/** Characters shown of a text that is too long. */
const previewChars = 16_000;

/** `wholeChars`: the longest text that is shown whole. */
export async function boundedOutcome(
  outcome: Outcome,
  context: ToolContext,
  wholeChars: number = 20_000,
): Promise<Outcome> {
  if (outcome.type !== "ok" && outcome.type !== "interrupted") return outcome;
  const { text } = outcome;
  if (text.length <= wholeChars) return outcome;
  const blob = await context.blobs.put(text);
  if (isFailure(blob)) return { ...outcome, text: preview(text, "the rest is lost: it could not be stored") };
  const short = preview(text, `read path "blob:${blob}" for the rest`);
  return outcome.type === "ok" ? { ...outcome, text: short, blob } : { ...outcome, text: short };
}

function preview(text: string, where: string): string {
  const half = previewChars / 2;
  const headEnd = text.lastIndexOf("\n", half);
  const head = headEnd > half / 2 ? text.slice(0, headEnd + 1) : `${text.slice(0, half)}\n`;
  const tailStart = text.indexOf("\n", text.length - half) + 1;
  const tail =
    tailStart > 0 && text.length - tailStart > half / 2 ? text.slice(tailStart) : text.slice(-half);
  const left = text.length - head.length - tail.length;
  return `${head}[... ${left} of ${text.length} characters left out; ${where} ...]\n${tail}`;
}
