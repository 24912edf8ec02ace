
/** One thing that would run, with what its files were. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Failure, failure, isFailure } from "@lathe/protocol";
import { configFolder, writeWhole } from "@lathe/system";
import { type ExtensionPlace, isInReach } from "../files/extension-place.ts";
export interface LookedItem {
  /** For people. */
  readonly text: string;
  /** By their paths from the workspace. */
  readonly files: Readonly<Record<string, string>>;
}

export interface Look {
  /** Of all that may run; absent where nothing may. */
  readonly hash?: string;
  /** What was shown then; absent where an earlier Lathe kept it. */
  readonly items?: readonly LookedItem[];
  /** Not to be asked about in this folder. */
  readonly never?: true;
}

/** By the real path of the folder; a bare hash is one of an earlier Lathe. */
type Kept = Readonly<Record<string, Look | string>>;

/** Whether anything can be said of it there. */
export function canBeKept(place: ExtensionPlace): boolean {
  return writtenFrom(place) === undefined;
}

/** The folder in which commands can write what is kept; of a copy that in which it is told of, too. */
function writtenFrom({ cwd, env }: ExtensionPlace): string | undefined {
  const folders = [cwd, ...(env.LATHE_COPY_OF === undefined ? [] : [env.LATHE_COPY_OF])];
  return folders.find((folder) => isInReach({ cwd: folder, env }));
}

/**
 * What lies in reach of commands they may have written: there nothing was looked at. In the copy of a folder in which an
 * attempt works, what was looked at in the folder is.
 */
export function readLook(name: string, place: ExtensionPlace): Look {
  const kept = canBeKept(place) ? read(fileOf(name, place.env)) : {};
  const folder = place.env.LATHE_COPY_OF ?? place.cwd;
  if (isFailure(kept) || !Object.hasOwn(kept, folder)) return {};
  const look = kept[folder];
  if (typeof look === "string") return { hash: look };
  return typeof look === "object" && look !== null ? look : {};
}

/** *Contract:* undefined forgets it. */
export function keepLook(name: string, place: ExtensionPlace, look: Look | undefined): Failure | undefined {
  const { cwd, env } = place;
  const reach = look && writtenFrom(place);
  if (reach !== undefined) {
    const text = `${configFolder(env)} lies in ${reach}, where commands can write: nothing can be trusted there`;
    return failure("no-access", text, { who: "user" });
  }
  const file = fileOf(name, env);
  const kept = read(file);
  if (isFailure(kept)) return kept;
  const { [cwd]: _, ...others } = kept;
  return write(file, look ? { ...others, [cwd]: look } : others);
}

export interface ItemChange {
  readonly text: string;
  readonly change: "same" | "new" | "changed" | "gone";
  /** Files that are not as they were. */
  readonly files: readonly string[];
}

/** What has become of what was looked at; undefined where nothing was, or where it is not known what. */
export function changesSince(
  { items: before }: Look,
  now: readonly LookedItem[],
): readonly ItemChange[] | undefined {
  if (!before) return undefined;
  const isNow = new Set(now.map(({ text }) => text));
  const gone = before.filter(({ text }) => !isNow.has(text));
  return [
    ...now.map((item): ItemChange => changeOf(item, before)),
    ...gone.map(({ text }): ItemChange => ({ text, change: "gone", files: [] })),
  ];
}

/** Sorted; those that came or went, too. */
export function differingFiles(before: LookedItem["files"], now: LookedItem["files"]): readonly string[] {
  const paths = [...new Set([...Object.keys(before), ...Object.keys(now)])].sort();
  return paths.filter((path) => before[path] !== now[path]);
}

function changeOf({ text, files }: LookedItem, before: readonly LookedItem[]): ItemChange {
  const earlier = before.find((one) => one.text === text);
  if (!earlier) return { text, change: "new", files: [] };
  const changed = differingFiles(earlier.files, files);
  return { text, change: changed.length > 0 ? "changed" : "same", files: changed };
}

function fileOf(name: string, env: ExtensionPlace["env"]): string {
  return join(configFolder(env), name);
}

function read(file: string): Kept | Failure {
  try {
    const kept: unknown = JSON.parse(readFileSync(file, "utf8"));
    const isWhole = typeof kept === "object" && kept !== null && !Array.isArray(kept);
    return isWhole ? (kept as Kept) : unreadable(file, "it is no object");
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return {};
    return unreadable(file, cause instanceof SyntaxError ? "it is not valid JSON" : `${code}`);
  }
}

function unreadable(file: string, why: string): Failure {
  return failure("config-invalid", `${file} cannot be used: ${why}`, { who: "user" });
}

function write(file: string, kept: Kept): Failure | undefined {
  try {
    writeWhole(file, `${JSON.stringify(kept, null, 2)}\n`, { isDurable: true });
    return undefined;
  } catch (cause) {
    const text = `${file} cannot be written (${(cause as NodeJS.ErrnoException).code})`;
    return failure("no-access", text, { who: "host", cause });
  }
}
