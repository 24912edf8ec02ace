/** Follows `cd` through a script, so that the paths of its effects are told from the workspace. */
import type { Effect } from "@lathe/protocol";
import { isPathEffect } from "./match.ts";

export interface Place {
  /** A glob, relative to the workspace or absolute; absent when it cannot be told. */
  folder: string | undefined;
  depth: number;
  readonly outer: (string | undefined)[];
}

export function start(folder: string): Place {
  return { folder, depth: 0, outer: [] };
}

/** A subshell starts where its parent is, and its own `cd` ends with it. */
export function enter(place: Place, depth: number): void {
  for (; place.depth < depth; place.depth++) place.outer.push(place.folder);
  for (; place.depth > depth; place.depth--) place.folder = place.outer.pop();
}

/** The effect with its path, a glob, told from the workspace; `unknown` when that cannot be done. */
export function placed(effect: Effect, { folder }: Place): Effect {
  const { target, expansion } = effect;
  if (!isPathEffect(effect)) return effect;
  const isUnknown = expansion === "unknown";
  if (target.startsWith("/")) return { ...effect, target: tidy(target) };
  if ((isUnknown || effect.kind === "read") && /^[~$`]/u.test(target)) return effect;
  if (folder === undefined) return { ...effect, target: `$PWD/${target}`, expansion: "unknown" };
  const path = folder === "" ? target : `${folder}/${target}`;
  return { ...effect, target: isUnknown ? path : tidy(path) };
}

function tidy(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === ".." && parts.length > 0 && parts.at(-1) !== "..") parts.pop();
    else parts.push(part);
  }
  const root = path.startsWith("/") ? "/" : "";
  return root + parts.join("/") || ".";
}
