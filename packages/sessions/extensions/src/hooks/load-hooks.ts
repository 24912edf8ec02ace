/** Loads the hooks of a session, and the code that reads and runs them only where any are written down. */
import type { ExtensionPlace } from "../files/extension-place.ts";
import { mayHaveHooks } from "./may-have-hooks.ts";
import type { HookPlace, SessionHooks } from "./session-hooks.ts";

/** Undefined where none is to run. */
export async function loadHooks(place: HookPlace & ExtensionPlace): Promise<SessionHooks | undefined> {
  if (!mayHaveHooks(place)) return undefined;
  return (await import("./open-hooks.ts")).openHooks(place);
}
