/** Git's aliases by name, from the machine, the user and the repository. */

import type { Env } from "../user-folders.ts";
import { type ConfigSetting, readUserConfig } from "./config-files.ts";
import type { RepositoryPlace } from "./repository-place.ts";
import { readAllSettings } from "./repository-settings.ts";

/** *Contract:* throws `ConfigError` for settings that git would refuse. */
export function readAliases(place: RepositoryPlace | undefined, env: Env): Readonly<Record<string, string>> {
  const settings = place ? readAllSettings(place, env) : readUserConfig(env);
  return Object.fromEntries(settings.flatMap(aliasOf));
}

/** `alias.name`, and since git 2.54 `alias.name.command`, whose name may have any characters. */
function aliasOf({ name, part, value }: ConfigSetting): readonly (readonly [string, string])[] {
  const [section, key = ""] = name.split(".");
  if (section !== "alias" || value === undefined) return [];
  if (part === undefined) return [[key, value]];
  return key === "command" ? [[part, value]] : [[`${part}.${key}`, value]];
}
