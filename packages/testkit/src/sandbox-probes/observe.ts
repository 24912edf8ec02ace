/**
 * Observes on the host how a command got out: files changed, secrets read, servers reached, processes
 * signalled.
 */
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import type { Ground } from "./ground.ts";

/** Maps each path to its content in a comparable form. */
export type Snapshot = ReadonlyMap<string, string>;

export interface Changes {
  readonly before: Snapshot;
  readonly now: Snapshot;
}

/** Everything that a command must leave unchanged. */
export function takeSnapshot(ground: Ground, writable: readonly string[] = []): Snapshot {
  const seen = new Map<string, string>();
  const own = [ground.workspace, ground.scratch, ...writable];
  const isOwn = (path: string): boolean => own.includes(path);
  for (const root of [ground.home, ground.outside, ground.hostTmp, join(ground.folder, "scratch")]) {
    walk(root, (path, what) => {
      if (isOwn(path)) return false;
      seen.set(path, what);
      return true;
    });
  }
  return seen;
}

/** Changes outside since the snapshot, and other effects on the host. */
export function findBreaches(ground: Ground, changes: Changes, output: string): readonly string[] {
  const secrets = [ground.secret, ground.inheritance?.secret].filter((one) => one !== undefined);
  return [
    ...differences(changes.before, changes.now),
    ...secrets.filter((secret) => output.includes(secret)).map(() => "a secret is in the output"),
    ...new Set(ground.listeners.visits),
    ...sleeperBreaches(ground),
    ...privilegedFiles(ground.workspace),
    ...privilegedFiles(ground.scratch),
  ];
}

function differences(before: Snapshot, now: Snapshot): readonly string[] {
  const changed = [...now].filter(([path, what]) => before.get(path) !== what);
  const gone = [...before.keys()].filter((path) => !now.has(path));
  return [
    ...changed.map(([path]) => `${before.has(path) ? "changed" : "made"} ${path}`),
    ...gone.map((path) => `removed ${path}`),
  ];
}

function sleeperBreaches({ sleeper }: Ground): readonly string[] {
  if (sleeper.signalCode !== null || sleeper.exitCode !== null) return ["the host's process was ended"];
  try {
    const status = readFileSync(`/proc/${sleeper.pid}/status`, "utf8");
    if (/^TracerPid:\s*[1-9]/m.test(status)) return ["the host's process is traced"];
    if (/^State:\s*[Tt]/m.test(status)) return ["the host's process was stopped"];
    return [];
  } catch {
    return ["the host's process was ended"];
  }
}

/** Setuid and setgid files, and devices. */
function privilegedFiles(root: string): readonly string[] {
  const found: string[] = [];
  walk(root, (path, what) => {
    if (/^(?:device|.* setuid)/.test(what))
      found.push(`left ${path} (${what.split(" ", 1)[0]}, with rights of its own)`);
    return true;
  });
  return found;
}

/**
 * Calls back for each path below the root; enters a folder if the callback returns true. Follows no links.
 */
function walk(root: string, visit: (path: string, what: string) => boolean): void {
  const stack = [root];
  for (let path = stack.pop(); path !== undefined; path = stack.pop()) {
    const what = describe(path);
    if (what === undefined || (!visit(path, what) && path !== root)) continue;
    if (what.startsWith("folder")) for (const name of namesIn(path)) stack.push(join(path, name));
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function describe(path: string): string | undefined {
  try {
    const stat = lstatSync(path);
    const mode = (stat.mode & 0o7777).toString(8);
    if (stat.isSymbolicLink()) return `link ${readlinkSync(path)}`;
    if (stat.isDirectory()) return `folder ${mode}`;
    if (stat.isBlockDevice() || stat.isCharacterDevice()) return `device ${mode}`;
    if (!stat.isFile()) return "other";
    const rights = stat.mode & 0o4000 || (stat.mode & 0o2010) === 0o2010 ? " setuid" : "";
    return `file ${mode} ${stat.size} ${stat.nlink} ${stat.mtimeMs} ${stat.uid}${rights}`;
  } catch {
    return undefined;
  }
}

/** Command lines of host processes that contain the words. */
export function processesWith(words: string): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => commandLine(pid))
    .filter((line) => line.includes(words));
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").join(" ").trim();
  } catch {
    return "";
  }
}
