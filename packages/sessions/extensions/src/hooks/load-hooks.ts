/** Loads the hooks of a session; the code that runs hooks is loaded only if a file may define any. */
import type { ExtensionPlace } from "../files/extension-place.ts";
import { mayHaveHooks } from "./hook-places.ts";
import type { HookPlace, SessionHooks } from "./session-hooks.ts";

/** Undefined if no hook may run. */
export async function loadHooks(place: HookPlace & ExtensionPlace): Promise<SessionHooks | undefined> {
  if (!mayHaveHooks(place)) return undefined;
  return (await import("./open-hooks.ts")).openHooks(place);
}
