/** Trusted hooks: which projects' hooks the user lets run, each as it was when they said so; kept in the user's own place. */
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Failure, failure, isFailure } from "@lathe/protocol";
import { configFolder } from "../config-folder.ts";
import type { CustomPlace } from "../customs/custom-files.ts";
import { isInReach } from "../kept-rules.ts";
import { readHookSettings } from "./hook-settings.ts";

/** By the real path of the folder. */
type Trusted = Readonly<Record<string, string>>;

function fileOf(env: CustomPlace["env"]): string {
  return join(configFolder(env), "trusted-hooks.json");
}

/**
 * What lies in reach of commands they may have written: there nothing is trusted. In the copy of a folder in which an
 * attempt works, what is trusted in the folder is.
 */
export function isTrusted({ cwd, env }: CustomPlace, hash: string): boolean {
  const trusted = isInReach({ cwd, env }) ? {} : read(env);
  const folder = env.LATHE_COPY_OF ?? cwd;
  return !isFailure(trusted) && Object.hasOwn(trusted, folder) && trusted[folder] === hash;
}

/** As the project's hooks are now. */
export function trustHooks(place: CustomPlace): Failure | undefined {
  const { cwd, env } = place;
  if (isInReach(place)) {
    const text = `${configFolder(env)} lies in ${cwd}, where commands can write: nothing can be trusted there`;
    return failure("no-access", text, { who: "user" });
  }
  const trusted = read(env);
  if (isFailure(trusted)) return trusted;
  return write(env, { ...trusted, [cwd]: readHookSettings(place).hash });
}

export function distrustHooks({ cwd, env }: CustomPlace): Failure | undefined {
  const trusted = read(env);
  if (isFailure(trusted)) return trusted;
  const { [cwd]: _, ...others } = trusted;
  return write(env, others);
}

function read(env: CustomPlace["env"]): Trusted | Failure {
  const file = fileOf(env);
  try {
    const trusted: unknown = JSON.parse(readFileSync(file, "utf8"));
    const isWhole = typeof trusted === "object" && trusted !== null && !Array.isArray(trusted);
    return isWhole ? (trusted as Trusted) : unreadable(file, "it is no object");
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return {};
    return unreadable(file, cause instanceof SyntaxError ? "it is not valid JSON" : `${code}`);
  }
}

function unreadable(file: string, why: string): Failure {
  return failure("config-invalid", `${file} cannot be used: ${why}`, { who: "user" });
}

function write(env: CustomPlace["env"], trusted: Trusted): Failure | undefined {
  const file = fileOf(env);
  const temporary = `${file}.${process.pid}-${randomBytes(4).toString("hex")}`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(temporary, `${JSON.stringify(trusted, null, 2)}\n`, { mode: 0o600, flush: true });
    renameSync(temporary, file);
    return undefined;
  } catch (cause) {
    rmSync(temporary, { force: true });
    const text = `${file} cannot be written (${(cause as NodeJS.ErrnoException).code})`;
    return failure("no-access", text, { who: "host", cause });
  }
}
