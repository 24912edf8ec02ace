/** What of a session counts when its calls are judged. */
import type { Session } from "@lathe/protocol";
import type { Asking } from "./gather-facts.ts";

export function askingOf({ settings, uncovered, refusals, rules }: Session): Asking {
  return {
    mode: settings.mode,
    keepsFiles: settings.checkpoints === true && uncovered === undefined,
    refusals,
    allowed: rules,
  };
}
