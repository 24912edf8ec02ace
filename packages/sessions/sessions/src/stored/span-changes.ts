/**
 * Span changes: which files the session changed, which others changed, and which unknown processes changed.
 */
import type { Span, Whose } from "@lathe/orchestrator/rewind";
import { type Checkpoints, type Failure, isFailure } from "@lathe/protocol";

export type SpanChanges = Readonly<Record<Whose, Set<string>>>;

export async function spanChanges(
  checkpoints: Checkpoints,
  spans: readonly Span[],
): Promise<SpanChanges | Failure> {
  const changes = { session: new Set<string>(), others: new Set<string>(), anybody: new Set<string>() };
  for (const { from, to, whose } of spans) {
    const found = await checkpoints.changedPaths(from, to);
    if (isFailure(found)) return found;
    for (const path of found) changes[whose].add(path);
  }
  return changes;
}
