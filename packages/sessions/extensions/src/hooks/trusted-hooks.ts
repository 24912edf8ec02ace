/** Trusted hooks: the projects whose hooks a person trusts, with the hooks as they were then. */
import { createHash } from "node:crypto";
import type { Failure } from "@lathe/protocol";
import type { ExtensionPlace } from "../files/extension-place.ts";
import { readTrust, type TrustedItem, type TrustRecord, writeTrust } from "../trust/trust-store.ts";
import { hookFiles } from "./hook-files.ts";
import { type HookSettings, hookMoment, readHookSettings } from "./hook-settings.ts";

const file = "trusted-hooks.json";

export function isTrusted(place: ExtensionPlace, hash: string): boolean {
  return readHookTrust(place).hash === hash;
}

export function readHookTrust(place: ExtensionPlace): TrustRecord {
  return readTrust(file, place);
}

/** Trusts the hooks as they were shown to the person, or as they are now. */
export function trustHooks(
  place: ExtensionPlace,
  settings: HookSettings = readHookSettings(place),
): Failure | undefined {
  return writeTrust(file, place, { hash: settings.hash, items: hookItems(settings, place.cwd) });
}

/** Keeps the hooks from running, and stops asking the person about them. */
export function neverTrustHooks(place: ExtensionPlace): Failure | undefined {
  return writeTrust(file, place, { never: true });
}

export function distrustHooks(place: ExtensionPlace): Failure | undefined {
  return writeTrust(file, place, undefined);
}

/** Each of the project's hooks, with the files of the project that it names. */
export function hookItems({ hooks }: HookSettings, cwd: string): readonly TrustedItem[] {
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
