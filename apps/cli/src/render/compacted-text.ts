/** What a compaction did, for people. */
import type { ContextCompacted } from "@lathe/protocol";
import { count } from "./figures.ts";
import { harmless } from "./fit.ts";
import type { Palette } from "./palette.ts";

export function compactedText(done: ContextCompacted, { bold, dim, yellow }: Palette): string {
  const { before, after, parts, summary, summarized } = done;
  if (parts.length === 0 && !summary) {
    const why = summarized?.failure ? `: ${harmless(summarized.failure.text)}` : "";
    return `Nothing could be made shorter${why}.`;
  }
  const freed = before > 0 ? Math.round((100 * (before - after)) / before) : 0;
  const what = [
    ...(parts.length > 0
      ? [`${parts.length} old ${parts.length === 1 ? "result" : "results"} shortened`]
      : []),
    ...(summary ? [`${summary.messages} messages summed up by ${summarized?.model ?? "a model"}`] : []),
  ];
  const failed = summarized?.failure ? [yellow(`no summary: ${harmless(summarized.failure.text)}`)] : [];
  const figures = `${count(before)} to ${count(after)} tokens (${freed} % less)`;
  return [`${bold(figures)}: ${what.join(", ")}.`, ...failed, dim("The log keeps everything.")].join("\n");
}

/** The figures alone, for those who watch. */
export function compactedLine(done: ContextCompacted, paint: Palette): string {
  const [figures = ""] = compactedText(done, paint).split("\n");
  return `${paint.dim("made shorter:")} ${figures}`;
}
