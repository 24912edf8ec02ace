/** Sealed targets: which of the refused effects a sandbox must hold by itself, since no words of a command need show them. */
import type { Effect, Facts, Refusal } from "@lathe/protocol";
import { isMadeAgain } from "./loss.ts";
import { meetsRefusal } from "./refusals.ts";

/** A call as it was decided. */
interface Decided {
  readonly effects: readonly Effect[];
  readonly decision?: { readonly rule: string } | undefined;
}

const nothingKnown: Pick<Facts, "paths"> = { paths: {} };

/**
 * Paths, or globs of them, from the workspace or absolute. Deletions for as long as they are refused; changes until a
 * person has spoken. What a person has just allowed the call is not among them. The workspace as a whole and what a
 * build makes again never are: nothing could be built any more.
 */
export function sealedTargets(refusals: readonly Refusal[], call: Decided | undefined): readonly string[] {
  const allowed = call?.decision?.rule === "person" ? call.effects : [];
  const held = refusals.filter(
    (refusal) =>
      (refusal.kind === "delete" || (refusal.kind === "write" && refusal.isOld !== true)) &&
      !allowed.some((effect) => meetsRefusal(refusal, effect, nothingKnown)),
  );
  const paths = held.flatMap(({ target, real }) => (real === undefined ? [] : [target, real]));
  return [...new Set(paths)].filter((path) => !/^(?:\.?|\*{1,2}|\.\/)$/u.test(path) && !isMadeAgain(path));
}
