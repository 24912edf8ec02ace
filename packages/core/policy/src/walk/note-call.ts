/** Note call: records the changes of a call that later commands will see. */
import type { FoundCall } from "../programs/found-call.ts";
import type { Environment } from "../shell/environment.ts";
import { noteLinks } from "./links.ts";
import { noteSettings } from "./settings.ts";
import { folderAfter } from "./working-folder.ts";

export function noteCall(call: FoundCall, environment: Environment): void {
  const isSearched =
    environment.variables.has("CDPATH") || call.assignments.some((raw) => raw.startsWith("CDPATH="));
  for (const one of call.calls) noteLinks(one, environment.folder, environment.links);
  if (call.calls.some(({ program }) => program === "cd" || program === "pushd") && isSearched)
    environment.folder = undefined;
  else environment.folder = folderAfter(call, environment.folder);
  for (const one of call.calls) noteSettings(one, environment);
}
