/** Loads the configuration: project, user, environment, flags; each later one wins, the project only tightens. */
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { type Failure, failure, isFailure, type Limits, type Mode } from "@lathe/protocol";
import type { Config, ConfigPart } from "./config.ts";

/** What the command line says; `allow` holds globs of commands that may run without a question. */
export interface ConfigFlags extends ConfigPart {
  readonly allow?: readonly string[];
}

export async function loadConfig(
  cwd: string,
  env: NodeJS.ProcessEnv,
  flags: ConfigFlags,
): Promise<Config | Failure> {
  const project = await readPart(join(cwd, "lathe.json"), "project");
  if (isFailure(project)) return project;
  const user = await readPart(userFile(env), "user");
  if (isFailure(user)) return user;
  const allowed = (flags.allow ?? []).map(
    (target) => ({ name: "--allow", verdict: "allow", kinds: ["execute"], target }) as const,
  );
  return Object.freeze({
    models: chain(flags.model ?? chainOfEnv(env) ?? user.model ?? project.model),
    mode: flags.mode ?? stricter(user.mode ?? "auto", project.mode),
    limits: { ...lower(user.limits ?? {}, project.limits ?? {}), ...flags.limits },
    rules: [...allowed, ...(user.rules ?? []), ...(project.rules ?? [])],
    sandbox: flags.sandbox ?? user.sandbox ?? true,
    providers: user.providers ?? {},
  });
}

/** `$XDG_CONFIG_HOME/lathe/config.json`, else `~/.config/lathe/config.json`. */
function userFile(env: NodeJS.ProcessEnv): string {
  const config = env.XDG_CONFIG_HOME;
  const base = config && isAbsolute(config) ? config : join(env.HOME || homedir(), ".config");
  return join(base, "lathe", "config.json");
}

async function readPart(path: string, whose: "project" | "user"): Promise<ConfigPart | Failure> {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return {};
    return failure("config-invalid", `${path} cannot be read (${code})`, { who: "user", cause });
  }
  const { readConfigText } = await import("./config-file.ts");
  return readConfigText(path, text, whose);
}

function chain(model: ConfigPart["model"]): readonly string[] {
  if (model === undefined) return [];
  const ids = typeof model === "string" ? model.split(",") : model;
  return ids.flatMap((id) => id.trim() || []);
}

function chainOfEnv(env: NodeJS.ProcessEnv): string | undefined {
  return env.LATHE_MODEL || undefined;
}

const strictness: Readonly<Record<Mode, number>> = { auto: 0, ask: 1, plan: 2, "read-only": 3 };

function stricter(own: Mode, project: Mode | undefined): Mode {
  return project && strictness[project] > strictness[own] ? project : own;
}

/** Each limit as the lower of the two. */
function lower(a: Limits, b: Limits): Limits {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]) as Set<keyof Limits>;
  return Object.fromEntries(
    [...names].map((name) => [
      name,
      Math.min(a[name] ?? Number.POSITIVE_INFINITY, b[name] ?? Number.POSITIVE_INFINITY),
    ]),
  );
}
