/** What of a session counts when its calls are judged. */
import { noTreePermissions, type Session, type TreePermissions } from "@lathe/protocol";
import type { Asking } from "./gather-facts.ts";

export function askingOf(
  { settings, uncovered, refusals, rules, grants }: Session,
  treePermissions: TreePermissions = noTreePermissions,
): Asking {
  return {
    mode: settings.mode,
    keepsFiles: settings.checkpoints === true && uncovered === undefined,
    refusals: [...treePermissions.refusals, ...refusals],
    allowed: [...treePermissions.rules, ...rules],
    grants: [...treePermissions.grants, ...grants],
  };
}
