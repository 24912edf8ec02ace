/** Own places: what Lathe keeps that no session may reach, whatever its workspace is: logins at servers, and what people offer to sessions. */
import { existsSync, mkdirSync, readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import type { Rule } from "@lathe/protocol";
import type { LocalOptions } from "../local-options.ts";
import { type Env, stateFolder } from "../places/state-folder.ts";
import { liesIn } from "./kept-rules.ts";

/** In the state folder. Who could write into the inbox would answer in a person's stead. */
const secretNames = ["mcp", "inbox"];

function secretPlaces(env: Env): readonly string[] {
  return secretNames.map((name) => join(stateFolder(env), name));
}

/** Deny, whichever tool asks and however it says it; no rule lifts a denial. */
export function ownPlaceRules({ env, cwd }: Pick<LocalOptions, "cwd" | "env">): readonly Rule[] {
  const secret = secretPlaces(env).flatMap(withReal);
  const state = withReal(stateFolder(env));
  const isIn = (paths: readonly string[]): boolean => paths.some((path) => liesIn(cwd, path));
  const rule = (target: string, kinds: Rule["kinds"]): Rule => ({
    ...{ name: "own-places", verdict: "deny", target, kinds: kinds ?? [] },
    why: "Lathe keeps sessions, logins and answers of people there, and no session reaches them",
  });
  return [
    ...[...(isIn(secret) ? ["**"] : []), ...secret.map(globOf)].map((target) =>
      rule(target, ["read", "write", "delete"]),
    ),
    // Forks lie there, and are worked in.
    ...(isIn(state) ? [] : state.map((path) => rule(globOf(path), ["write", "delete"]))),
  ];
}

function globOf(path: string): string {
  return `${path.replaceAll(/[\\*?{}[\]]/g, "\\$&")}/**`;
}

/**
 * What of the state folder commands would see since the workspace holds it, by real paths. Made where it is missing:
 * what is not there cannot be hidden, and a login may come while the sandbox is open.
 */
export function hiddenPlaces(env: Env, workspace: string): readonly string[] {
  const state = stateFolder(env);
  const isWorkedIn = withReal(state).some((path) => liesIn(workspace, path));
  const places = isWorkedIn ? secretPlaces(env) : [state];
  return places.flatMap((path) => {
    if (withReal(path).some((folder) => liesIn(workspace, folder))) return [workspace];
    if (!liesIn(path, workspace)) return [];
    try {
      mkdirSync(path, { recursive: true, mode: 0o700 });
    } catch {
      // Then nothing can be kept there either.
    }
    return real(path);
  });
}

/** Whether a login lies where commands of this workspace could read it, were it not hidden. */
export function hasLoginsIn(env: Env, workspace: string): boolean {
  const folder = join(stateFolder(env), "mcp");
  if (!liesIn(folder, workspace) || !existsSync(folder)) return false;
  try {
    return readdirSync(folder).some((name) => name.endsWith(".login.json"));
  } catch {
    return false;
  }
}

function withReal(path: string): readonly string[] {
  return [...new Set([path, ...real(path)])];
}

function real(path: string): readonly string[] {
  try {
    return [realpathSync(path)];
  } catch {
    return [];
  }
}
