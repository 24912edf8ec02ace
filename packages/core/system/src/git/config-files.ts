/** Settings from git's configuration files, with those that they include, in the order in which git reads them. */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import type { Env } from "../user-folders.ts";
import { parseGitConfig } from "./config-text.ts";

export interface ConfigSetting {
  /** Section and key in lower case, without the part: `remote.url`. */
  readonly name: string;
  readonly part: string | undefined;
  /** Undefined for a key by itself, which means true. */
  readonly value: string | undefined;
}

/** A configuration that git would refuse, or that is not read to its end. */
class ConfigError extends Error {}

const maxBytes = 1024 * 1024;
const maxFiles = 32;

/**
 * Of the machine and of the user, as git finds them by the environment. *Contract:* throws `ConfigError` where one of them
 * is there and cannot be read. Files that are included under a condition count too: which hold is not decided here.
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

/** *Contract:* empty where there is none; throws `ConfigError` for what cannot be read. `home`: what `~` means. */
export function readConfigFile(path: string, home: string | undefined): readonly ConfigSetting[] {
  const text = textOf(path);
  return text === undefined ? [] : settingsIn(text, { path, home, files: { left: maxFiles } });
}

interface ConfigPlace {
  readonly path: string;
  readonly home: string | undefined;
  /** Counts the files that one includes, so that those that include each other come to an end. */
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

/** Undefined for the folder of a user that is not known here. */
export function expandHome(path: string, home: string | undefined): string | undefined {
  if (!path.startsWith("~")) return path;
  return path.startsWith("~/") && home ? join(home, path.slice(2)) : undefined;
}

/** Links are followed: many people keep their settings elsewhere. */
function textOf(path: string): string | undefined {
  // So people say that there is none.
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

/** As git reads a truth value. */
export function isTrue(value: string | undefined): boolean {
  return value === undefined || /^(?:true|yes|on|[+-]?0*[1-9]\d*)$/i.test(value);
}
