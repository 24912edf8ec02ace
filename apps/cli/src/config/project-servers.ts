/** Project servers: those that a project's `.mcp.json` names, used only as the person has seen and trusted it. */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join, sep } from "node:path";
import { configFolder, readRootFile } from "@lathe/hosts/local";
import { type Failure, failure, isFailure } from "@lathe/protocol";
import { readServers, type Servers } from "./mcp-servers.ts";

type Env = Readonly<Record<string, string | undefined>>;

const mostBytes = 1_000_000;
export const projectFile = ".mcp.json";

export interface ProjectServers {
  readonly servers: Servers;
  /** Of the file as it is now. */
  readonly hash: string;
  readonly isTrusted: boolean;
}

/** Undefined where the project has no such file. */
export function readProjectServers(cwd: string, env: Env): ProjectServers | Failure | undefined {
  const file = readRootFile(cwd, projectFile, mostBytes);
  if (file === undefined || isFailure(file)) return file;
  const servers = readServers(join(cwd, projectFile), new TextDecoder().decode(file.bytes));
  if (isFailure(servers)) return servers;
  const hash = createHash("sha256").update(file.bytes).digest("hex");
  return { servers, hash, isTrusted: trustedHash(cwd, env) === hash };
}

/** *Contract:* the file is used from now on, until a byte of it changes. */
export function trustProjectServers(cwd: string, env: Env, hash: string): Failure | undefined {
  const file = trustFile(env);
  const text = `${JSON.stringify({ ...readTrust(env), [cwd]: hash }, null, 2)}\n`;
  try {
    mkdirSync(configFolder(env), { recursive: true, mode: 0o700 });
    writeFileSync(`${file}.${process.pid}`, text, { mode: 0o600, flush: true });
    renameSync(`${file}.${process.pid}`, file);
    return undefined;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    return failure("no-access", `it could not be kept in ${file} (${code})`, { who: "host", cause });
  }
}

/** Nothing where the user's own place lies in reach of the project's commands. */
function trustedHash(cwd: string, env: Env): string | undefined {
  if (`${configFolder(env)}${sep}`.startsWith(`${cwd}${sep}`)) return undefined;
  const trusted = readTrust(env);
  return Object.hasOwn(trusted, cwd) ? trusted[cwd] : undefined;
}

function readTrust(env: Env): Readonly<Record<string, string>> {
  try {
    const kept: unknown = JSON.parse(readFileSync(trustFile(env), "utf8"));
    return typeof kept === "object" && kept !== null ? (kept as Record<string, string>) : {};
  } catch {
    return {};
  }
}

function trustFile(env: Env): string {
  return join(configFolder(env), "trusted-mcp.json");
}
