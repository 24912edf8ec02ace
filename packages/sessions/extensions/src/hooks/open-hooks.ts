/**
 * Opens the hooks of a session: the user's, and the project's as long as they match what the user trusted.
 */
import type { JudgedFiles } from "@lathe/protocol";
import type { ExtensionPlace } from "../files/extension-place.ts";
import { hookFiles } from "./hook-files.ts";
import { type Hook, readHookSettings } from "./hook-settings.ts";
import { isIndependent } from "./independent-command.ts";
import { type HookPlace, openSessionHooks, type SessionHooks } from "./session-hooks.ts";
import { isTrusted, readHookTrust } from "./trusted-hooks.ts";

/** Undefined if no hook may run. */
export function openHooks(place: HookPlace & ExtensionPlace): SessionHooks | undefined {
  const { hooks, hash, remarks } = readHookSettings(place);
  for (const remark of remarks) place.onRemark(remark);
  const isAllowed = hash === "" || isTrusted(place, hash);
  if (!isAllowed && !readHookTrust(place).never) {
    const what = "the hooks of this project do not run: they are not trusted, or have changed since";
    place.onRemark(`${what}; \`lathe hooks list\` shows them, \`lathe hooks trust\` lets them run`);
  }
  const running = hooks.filter(({ isProjects }) => !isProjects || isAllowed);
  const trustedFiles = (): JudgedFiles | undefined => {
    const now = readHookSettings(place);
    return now.hash === hash && isTrusted(place, hash) ? now.judged : undefined;
  };
  const mayAllow = ({ isProjects, command }: Hook): boolean =>
    isProjects ? hookFiles(command, place.cwd).isAll : isIndependent(command, place);
  const trust = { trustedFiles, mayAllow };
  return running.length === 0 ? undefined : openSessionHooks(running, { ...place, trust });
}
