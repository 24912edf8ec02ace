/** Settings from git's configuration files, including the files they include, in git's order. */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import type { Env } from "../user-folders.ts";
import { parseGitConfig } from "./config-text.ts";

export interface ConfigSetting {
  /** Section and key in lower case, without the subsection: `remote.url`. */
  readonly name: string;
  readonly part: string | undefined;
  /** Undefined for a key without a value, which means true. */
  readonly value: string | undefined;
}

/** A configuration that git would refuse, or that is not read completely. */
class ConfigError extends Error {}

const maxBytes = 1024 * 1024;
const maxFiles = 32;

/**
 * Settings of the machine and the user, found through the environment as in git. *Contract:* throws
 * `ConfigError` if one of the files exists and cannot be read. Includes files with a condition, without
 * checking the condition.
 */
export function readUserConfig(env: Env): readonly ConfigSetting[] {
  const { HOME: home, XDG_CONFIG_HOME: configHome } = env;
  const isWithoutSystem = env.GIT_CONFIG_NOSYSTEM !== undefined && isTrue(env.GIT_CONFIG_NOSYSTEM);
  const system = isWithoutSystem ? [] : [env.GIT_CONFIG_SYSTEM ?? "/etc/gitconfig"];
  const own = env.GIT_CONFIG_GLOBAL !== undefined ? [env.GIT_CONFIG_GLOBAL] : ownFiles(home, configHome);
  const files = [...system, ...own].filter(isAbsolute);
  return files.flatMap((path) => readConfigFile(path, home));
}

function ownFiles(home: string | undefined, configHome: string | undefined): readonly string[] {
  const config = configHome ? configHome : home && join(home, ".config");
  return [...(config ? [join(config, "git/config")] : []), ...(home ? [join(home, ".gitconfig")] : [])];
}

/**
 * *Contract:* empty if there is no file; throws `ConfigError` if it cannot be read. `home`: the meaning of
 * `~`.
 */
export function readConfigFile(path: string, home: string | undefined): readonly ConfigSetting[] {
  const text = textOf(path);
  return text === undefined ? [] : settingsIn(text, { path, home, files: { left: maxFiles } });
}

interface ConfigPlace {
  readonly path: string;
  readonly home: string | undefined;
  /** Limits the number of included files, so that circular includes end. */
  readonly files: { left: number };
}

function settingsIn(text: string, place: ConfigPlace): readonly ConfigSetting[] {
  const parsed = parseGitConfig(text.replaceAll("\r\n", "\n"));
  if (!parsed) throw new ConfigError(`git would refuse ${place.path}`);
  return parsed.settings.flatMap(({ name, part, value }) => {
    const isInclude = name === "include.path" || (name === "includeif.path" && part !== undefined);
    return isInclude ? included(value, place) : [{ name, part, value }];
  });
}

function included(value: string | undefined, place: ConfigPlace): readonly ConfigSetting[] {
  if (value === undefined || --place.files.left < 0)
    throw new ConfigError(`${place.path} includes nothing, or too much`);
  const path = expandHome(value, place.home);
  if (path === undefined) throw new ConfigError(`${value} names another user's folder`);
  const whole = resolve(dirname(place.path), path);
  const text = textOf(whole);
  return text === undefined ? [] : settingsIn(text, { ...place, path: whole });
}

/** Undefined for the folder of another user. */
export function expandHome(path: string, home: string | undefined): string | undefined {
  if (!path.startsWith("~")) return path;
  return path.startsWith("~/") && home ? join(home, path.slice(2)) : undefined;
}

/** Follows links: many people keep their settings elsewhere. */
function textOf(path: string): string | undefined {
  // The usual way to state that there is no file.
  if (path === "/dev/null") return undefined;
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR" || code === "EACCES") return undefined;
    throw new ConfigError(`${path} cannot be read`, { cause: error });
  }
  try {
    if (!fstatSync(file).isFile()) throw new ConfigError(`${path} is no regular file`);
    const bytes = Buffer.allocUnsafe(maxBytes + 1);
    let length = 0;
    for (let count = -1; count !== 0 && length < bytes.length; length += count)
      count = readSync(file, bytes, length, bytes.length - length, length);
    if (length > maxBytes) throw new ConfigError(`${path} is too long`);
    return bytes.toString("utf8", 0, length);
  } finally {
    closeSync(file);
  }
}

/** Git's rules for boolean values. */
export function isTrue(value: string | undefined): boolean {
  return value === undefined || /^(?:true|yes|on|[+-]?0*[1-9]\d*)$/i.test(value);
}
