/** Trusted hooks: which projects' hooks the user lets run, each as it was when they said so. */
import { createHash } from "node:crypto";
import type { Failure } from "@lathe/protocol";
import type { ExtensionPlace } from "../files/extension-place.ts";
import { keepLook, type Look, type LookedItem, readLook } from "../trust/trust-store.ts";
import { hookFiles } from "./hook-files.ts";
import { type HookSettings, hookMoment, readHookSettings } from "./hook-settings.ts";

const file = "trusted-hooks.json";

export function isTrusted(place: ExtensionPlace, hash: string): boolean {
  return lookAtHooks(place).hash === hash;
}

/** What was said of them last. */
export function lookAtHooks(place: ExtensionPlace): Look {
  return readLook(file, place);
}

/** As they were shown, or as they are now. */
export function trustHooks(
  place: ExtensionPlace,
  settings: HookSettings = readHookSettings(place),
): Failure | undefined {
  return keepLook(file, place, { hash: settings.hash, items: hookItems(settings, place.cwd) });
}

/** They do not run, and nobody is asked about them any more. */
export function neverTrustHooks(place: ExtensionPlace): Failure | undefined {
  return keepLook(file, place, { never: true });
}

export function distrustHooks(place: ExtensionPlace): Failure | undefined {
  return keepLook(file, place, undefined);
}

/** The project's hooks one by one, with the files of the project that each names. */
export function hookItems({ hooks }: HookSettings, cwd: string): readonly LookedItem[] {
  return hooks
    .filter(({ isProjects }) => isProjects)
    .map((hook) => {
      const { command } = hook;
      const files = hookFiles(command, cwd).files.flatMap(({ path, bytes }) =>
        bytes ? [[path, createHash("sha256").update(bytes).digest("hex")] as const] : [],
      );
      return { text: `${hookMoment(hook)}: ${command}`, files: Object.fromEntries(files) };
    });
}
