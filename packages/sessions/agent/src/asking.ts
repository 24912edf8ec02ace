/** What of a session counts when its calls are judged. */
import { type KinHold, noKin, type Session } from "@lathe/protocol";
import type { Asking } from "./gather-facts.ts";

export function askingOf(
  { settings, uncovered, refusals, rules, grants }: Session,
  kin: KinHold = noKin,
): Asking {
  return {
    mode: settings.mode,
    keepsFiles: settings.checkpoints === true && uncovered === undefined,
    refusals: [...kin.refusals, ...refusals],
    allowed: [...kin.rules, ...rules],
    grants: [...kin.grants, ...grants],
  };
}
