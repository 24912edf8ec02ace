/** Spans: between which checkpoints the files were the session's to change, and between which they were others'. */
import type { CheckpointAttempt } from "@lathe/protocol";

/** `anybody`: nobody saw who changed what. */
export type Whose = "session" | "others" | "anybody";

export interface Span {
  /** Checkpoints. */
  readonly from: string;
  readonly to: string;
  readonly whose: Whose;
}

/** In order; where nothing changed there is none, and neighbours that belong to the same are one. */
export function spansOf(kept: readonly CheckpointAttempt[]): readonly Span[] {
  const spans: Span[] = [];
  let start = kept.findIndex(({ ref }) => ref !== undefined);
  for (let i = start + 1; start >= 0 && i < kept.length; i++) {
    const [from, to] = [kept[start]?.ref, kept[i]?.ref];
    if (from === undefined || to === undefined) continue;
    const whose = whoseOf(kept.slice(start, i + 1));
    start = i;
    if (from === to) continue;
    const last = spans.at(-1);
    if (last?.whose === whose) spans[spans.length - 1] = { ...last, to };
    else spans.push({ from, to, whose });
  }
  return spans;
}

/** Of two checkpoints and the failed attempts between them. */
function whoseOf([first, ...rest]: readonly CheckpointAttempt[]): Whose {
  if (rest.some(({ unsure }) => unsure)) return "anybody";
  const failed = rest.slice(0, -1);
  if (first?.moment === "before") {
    return failed.every(({ moment }) => moment === "before") ? "session" : "anybody";
  }
  if (failed.length > 0) return "anybody";
  return rest.at(-1)?.moment === "before" ? "others" : "session";
}
