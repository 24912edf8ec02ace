/** Project servers: those that a project's `.mcp.json` names, used only as the person has seen and trusted it. */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isInReach } from "@lathe/hosts/kept-rules";
import { configFolder, readRootFile } from "@lathe/hosts/local";
import { digestOf, namedFiles } from "@lathe/hosts/mcp-place";
import { type Failure, failure, isFailure } from "@lathe/protocol";
import { filledIn, readServers, type Servers } from "./mcp-servers.ts";

type Env = Readonly<Record<string, string | undefined>>;

const mostBytes = 1_000_000;
export const projectFile = ".mcp.json";

export interface ProjectServers {
  /** As they are written. */
  readonly written: Servers;
  /** With the user's variables; each is started only as it is now. */
  readonly servers: Servers;
  /** Files of the workspace that they name; from it. */
  readonly files: readonly string[];
  /** Of the file as it is now, and of those that it names. */
  readonly hash: string;
  readonly isTrusted: boolean;
}

/** Undefined where the project has no such file. */
export function readProjectServers(cwd: string, env: Env): ProjectServers | Failure | undefined {
  const file = readRootFile(cwd, projectFile, mostBytes);
  if (file === undefined || isFailure(file)) return file;
  const written = readServers(join(cwd, projectFile), new TextDecoder().decode(file.bytes));
  if (isFailure(written)) return written;
  const named = Object.entries(filledIn(written, env)).map(([name, spec]) => {
    const files = namedFiles(cwd, spec);
    return { name, files, spec: { ...spec, trusted: digestOf(files) } };
  });
  const hash = createHash("sha256").update(file.bytes);
  for (const { name, spec } of named) hash.update(`\0${name}\0${spec.trusted}`);
  const digest = hash.digest("hex");
  return {
    written,
    servers: Object.fromEntries(named.map(({ name, spec }) => [name, spec])),
    files: [...new Set(named.flatMap(({ files }) => files.map(({ path }) => path)))].sort(),
    hash: digest,
    isTrusted: trustedHash(cwd, env) === digest,
  };
}

/** *Contract:* the file is used from now on, until a byte of it or of a file that it names changes. */
export function trustProjectServers(cwd: string, env: Env, hash: string): Failure | undefined {
  if (isInReach({ cwd, env })) {
    const text = `${configFolder(env)} lies in ${cwd}, where commands can write: nothing can be trusted there`;
    return failure("no-access", text, { who: "user" });
  }
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
  if (isInReach({ cwd, env })) return undefined;
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
