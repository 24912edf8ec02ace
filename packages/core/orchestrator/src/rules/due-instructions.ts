/** Due instructions: folders of touched files whose instructions the agent has not received. */
import type { Session } from "@lathe/protocol";
import type { Action } from "../action.ts";

/** Maximum folders checked at once; the rest is due with the next step. */
const maxFolders = 64;

/**
 * Includes the parents of each folder, outermost first; the workspace's own instructions are in the prompt.
 */
export function dueInstructions({ shown, instructed }: Session): Action | undefined {
  const known = new Set(instructed);
  const wanted = new Set<string>();
  for (const path of Object.keys(shown)) {
    const parts = path.split("/").slice(0, -1);
    if (path.startsWith("/") || parts.includes("..")) continue;
    for (let depth = 1; depth <= parts.length; depth++) {
      const folder = parts.slice(0, depth).join("/");
      if (!known.has(folder)) wanted.add(folder);
    }
  }
  const folders = [...wanted].slice(0, maxFolders);
  return folders.length === 0 ? undefined : { type: "give-instructions", folders };
}
