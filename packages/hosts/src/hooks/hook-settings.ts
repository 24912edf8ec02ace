/** Hook settings: which programs the project and the user want run at which moments, in the shape of `.claude/settings.json`. */
import { createHash } from "node:crypto";
import { isFailure } from "@lathe/protocol";
import type { CustomPlace } from "../customs/custom-files.ts";
import { readRegularFile } from "../places/regular-file.ts";
import { readRootFile } from "../places/root-file.ts";
import { hookFiles } from "./hook-files.ts";
import { projectHookFiles, userHooksFile } from "./may-have-hooks.ts";

export const hookEvents = [
  "PreToolUse",
  "PostToolUse",
  "PermissionRequest",
  "UserPromptSubmit",
  "Stop",
  "SubagentStop",
  "PreCompact",
  "SessionStart",
  "SessionEnd",
] as const;

export type HookEvent = (typeof hookEvents)[number];

export interface Hook {
  readonly event: HookEvent;
  /** A regular expression over a tool's whole name, or what a session or a compaction comes from; empty for every one. */
  readonly matcher: string;
  readonly command: string;
  readonly timeoutMs: number;
  /** Whether the project brought it, not the user. */
  readonly isProjects: boolean;
}

export interface HookSettings {
  readonly hooks: readonly Hook[];
  /** Of what the project's hooks are, the files of the project that they name included; empty without any. */
  readonly hash: string;
  /** What was left out and why, one sentence each. */
  readonly remarks: readonly string[];
}

const mostBytes = 256 * 1024;
/** Of one file. */
const mostHooks = 100;
const usualTimeout = 60;
const mostTimeout = 600;

export function readHookSettings({ cwd, env }: CustomPlace): HookSettings {
  const remarks: string[] = [];
  const projects = projectHookFiles.flatMap((name) =>
    hooksIn(readRootFile(cwd, name, mostBytes), { path: name, isProjects: true, remarks }),
  );
  const path = userHooksFile(env);
  const users = hooksIn(readRegularFile(path, mostBytes), { path, isProjects: false, remarks });
  return { hooks: [...users, ...projects], hash: hashOf(projects, cwd), remarks };
}

interface Source {
  readonly path: string;
  readonly isProjects: boolean;
  readonly remarks: string[];
}

function hooksIn(file: ReturnType<typeof readRootFile>, source: Source): readonly Hook[] {
  const { path, remarks } = source;
  if (file === undefined) return [];
  const leave = (why: string): readonly Hook[] => {
    remarks.push(`the hooks of ${path} were left out: ${why}`);
    return [];
  };
  if (isFailure(file)) return leave(file.text);
  if (file.cut) return leave(`it is longer than ${mostBytes / 1024} KB`);
  const settings = parsed(new TextDecoder().decode(file.bytes));
  if (settings === undefined) return leave("it is not valid JSON");
  const { hooks, disableAllHooks } = Object(settings);
  if (hooks === undefined || disableAllHooks === true) return [];
  if (!isRecord(hooks)) return leave("`hooks` is no object");
  const all = Object.entries(hooks).flatMap(([event, groups]) => hooksOf(event, groups, source));
  return all.length > mostHooks ? leave(`there are more than ${mostHooks}`) : all;
}

function hooksOf(name: string, groups: unknown, { path, isProjects, remarks }: Source): readonly Hook[] {
  const event = hookEvents.find((one) => one === name);
  if (!event) {
    remarks.push(`the ${name} hooks of ${path} do not run: there is no such moment here`);
    return [];
  }
  return listOf(groups).flatMap((group) => {
    const { matcher: written = "", hooks } = Object(group) as { matcher?: unknown; hooks?: unknown };
    const matcher = typeof written === "string" && written !== "*" ? written : "";
    return listOf(hooks).flatMap((hook): readonly Hook[] => {
      const { type, command, timeout } = Object(hook) as Record<string, unknown>;
      if (type !== "command" || typeof command !== "string" || command.trim() === "" || !isPattern(matcher)) {
        remarks.push(`a ${name} hook of ${path} does not run: it is no command, or its matcher no pattern`);
        return [];
      }
      const seconds =
        typeof timeout === "number" && timeout > 0 ? Math.min(timeout, mostTimeout) : usualTimeout;
      return [{ event, matcher, command, timeoutMs: seconds * 1000, isProjects }];
    });
  });
}

export function hookMatches({ matcher }: Hook, name: string): boolean {
  return matcher === "" || new RegExp(`^(?:${matcher})$`, "u").test(name);
}

function isPattern(text: string): boolean {
  try {
    return new RegExp(`^(?:${text})$`, "u") !== undefined;
  } catch {
    return false;
  }
}

/** Also of scripts that a command names: who changes one changes the hook. */
function hashOf(hooks: readonly Hook[], cwd: string): string {
  if (hooks.length === 0) return "";
  const hash = createHash("sha256").update(JSON.stringify(hooks));
  for (const { command } of hooks) {
    for (const { path, bytes } of hookFiles(command, cwd).files) {
      hash.update(JSON.stringify([path, bytes?.length ?? null])).update(bytes ?? "");
    }
  }
  return hash.digest("hex");
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
