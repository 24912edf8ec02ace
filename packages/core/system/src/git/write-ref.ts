/** Creates and removes branches as files, with git's own locks. */
import { lstatSync, renameSync, rmdirSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { HeldFolder } from "../held-folder.ts";
import { codeOf, inFolder, replaceFile, writeNew } from "./below-folder.ts";
import { isRefName, packedText, readRef } from "./ref-files.ts";

/**
 * `locked`: git is working on it, or was interrupted; `in-the-way`: its name is a folder of another ref, or
 * the reverse.
 */
export type RefOutcome = "done" | "exists" | "locked" | "in-the-way";

/** Milliseconds between checks of a lock. */
const pauses = [10, 20, 40, 80, 160, 320];

/** *Contract:* creates the ref or changes nothing; throws file system errors. `common`: real path. */
export async function createRef(common: string, name: string, id: string): Promise<RefOutcome> {
  return whenFree(() => {
    if (!isRefName(name) || isInTheWay(common, name)) return "in-the-way";
    const parts = name.split("/");
    const last = parts.pop() ?? "";
    try {
      return inFolder(common, parts, (folder) => {
        if (readRef(common, name) !== undefined || folder.lstat(last)?.isFile()) return "exists";
        // A removed ref below it has left an empty folder.
        if (folder.lstat(last)?.isDirectory()) rmdirSync(folder.at(last));
        return replaceFile(folder, last, `${id}\n`) ? "done" : "locked";
      });
    } catch (cause) {
      const isTaken = ["ENOTDIR", "ENOTEMPTY", "EISDIR", "EEXIST"].includes(codeOf(cause) ?? "");
      if (isTaken) return "in-the-way";
      throw cause;
    }
  });
}

function isInTheWay(common: string, name: string): boolean {
  const names = packedText(common)
    .split("\n")
    .map((line) => line.slice(line.indexOf(" ") + 1));
  const isPart = names.some(
    (one) => one.startsWith(`${name}/`) || (one !== "" && name.startsWith(`${one}/`)),
  );
  return (
    isPart || name.split("/").some((_, at, parts) => at > 1 && isFile(join(common, ...parts.slice(0, at))))
  );
}

function isFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** Also deletes its history. *Contract:* succeeds even if there is none; throws file system errors. */
export async function deleteRef(common: string, name: string): Promise<RefOutcome> {
  if (!isRefName(name)) return "in-the-way";
  const parts = name.split("/");
  const last = parts.pop() ?? "";
  return whenFree(() =>
    inFolder(common, parts, (folder) => {
      if (!writeNew(folder, `${last}.lock`, "")) return "locked";
      try {
        if (!unpack(common, name)) return "locked";
        if (folder.lstat(last)?.isFile()) unlinkSync(folder.at(last));
        inFolder(common, ["logs", ...parts], (logs) => {
          if (logs.lstat(last)?.isFile()) unlinkSync(logs.at(last));
        });
        return "done";
      } finally {
        unlinkSync(folder.at(`${last}.lock`));
      }
    }),
  );
}

/** Removes it from `packed-refs`; false while another process writes that file. */
function unpack(common: string, name: string): boolean {
  return inFolder(common, [], (folder: HeldFolder) => {
    if (!withoutRef(packedText(common), name)) return true;
    if (!writeNew(folder, "packed-refs.lock", "")) return false;
    try {
      const left = withoutRef(packedText(common), name);
      if (left === undefined) return true;
      if (!writeNew(folder, "packed-refs.new", left)) return false;
      renameSync(folder.at("packed-refs.new"), folder.at("packed-refs"));
      return true;
    } finally {
      unlinkSync(folder.at("packed-refs.lock"));
    }
  });
}

/** A line that starts with `^` belongs to the tag before it. Undefined if the ref is not in the file. */
function withoutRef(text: string, name: string): string | undefined {
  const lines = text.split("\n");
  const at = lines.findIndex((line) => !line.startsWith("#") && line.slice(line.indexOf(" ") + 1) === name);
  if (at < 0) return undefined;
  lines.splice(at, lines[at + 1]?.startsWith("^") ? 2 : 1);
  return lines.join("\n");
}

async function whenFree(change: () => RefOutcome): Promise<RefOutcome> {
  let found = change();
  for (const pause of pauses) {
    if (found !== "locked") return found;
    await setTimeout(pause);
    found = change();
  }
  return found;
}
