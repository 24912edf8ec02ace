/** Reads refs as files: the targets of HEAD and branches, without git. */
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { plainText } from "./plain-bytes.ts";
import type { RepositoryPlace } from "./repository-place.ts";

const maxRef = 4096;
const maxPacked = 256 * 1024 * 1024;
const maxHops = 5;
const maxFiles = 200_000;
const maxDepth = 16;

const objectId = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** Whether git accepts it as the name of a ref, such as `refs/heads/main`. */
export function isRefName(name: string): boolean {
  if (!name.startsWith("refs/") || /[ ~^:?*[\\]|\.\.|@\{|\/\/|\/$|\.$/.test(name) || hasControls(name))
    return false;
  return name.split("/").every((part) => !part.startsWith(".") && !part.endsWith(".lock"));
}

function hasControls(name: string): boolean {
  return [...name].some((letter) => letter < " " || letter === "\x7f");
}

export interface Head {
  /** The current branch; absent if HEAD is detached. */
  readonly ref?: string;
  /** Absent if the branch has no commit yet. */
  readonly commit?: string;
}

/** *Contract:* never throws; undefined if HEAD contains neither. */
export function readHead({
  gitFolder,
  common,
}: Pick<RepositoryPlace, "gitFolder" | "common">): Head | undefined {
  const said = plainText(join(gitFolder, "HEAD"), maxRef)?.trimEnd();
  if (said === undefined) return undefined;
  if (objectId.test(said)) return { commit: said };
  const ref = /^ref:\s*(\S+)$/.exec(said)?.[1];
  if (ref === undefined || !isRefName(ref)) return undefined;
  const commit = readRef(common, ref);
  return { ref, ...(commit !== undefined && { commit }) };
}

/** The object that a full ref name refers to; follows symbolic refs. *Contract:* never throws. */
export function readRef(common: string, name: string): string | undefined {
  let ref = name;
  for (let hop = 0; hop < maxHops && isRefName(ref); hop++) {
    const said = plainText(join(common, ref), maxRef)?.trimEnd();
    if (said === undefined) return packedRefs(common).get(ref);
    if (objectId.test(said)) return said;
    ref = /^ref:\s*(\S+)$/.exec(said)?.[1] ?? "";
  }
  return undefined;
}

export function packedText(common: string): string {
  return plainText(join(common, "packed-refs"), maxPacked) ?? "";
}

function packedRefs(common: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const line of packedText(common).split("\n")) {
    const at = line.indexOf(" ");
    const [id, name] = [line.slice(0, at), line.slice(at + 1)];
    if (objectId.test(id) && isRefName(name)) found.set(name, id);
  }
  return found;
}

/** All refs with their objects, by name; files take precedence over packed refs. *Contract:* never throws. */
export function allRefs(common: string): ReadonlyMap<string, string> {
  const found = new Map(packedRefs(common));
  for (const name of looseNames(common)) {
    const id = readRef(common, name);
    if (id !== undefined) found.set(name, id);
  }
  return found;
}

function looseNames(common: string): readonly string[] {
  const names: string[] = [];
  const look = (name: string, depth: number): void => {
    if (names.length >= maxFiles || depth > maxDepth) return;
    const kind = lstatSync(join(common, name), { throwIfNoEntry: false });
    if (kind?.isFile() && isRefName(name)) names.push(name);
    if (!kind?.isDirectory()) return;
    for (const one of readdirSync(join(common, name))) look(`${name}/${one}`, depth + 1);
  };
  try {
    look("refs", 0);
  } catch {
    // The readable refs still count.
  }
  return names;
}
