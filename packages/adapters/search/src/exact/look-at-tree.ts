/** Looks at a tree: which files ripgrep searches, which folders it leaves out, and a file's stamp. */
import { isFailure } from "@lathe/protocol";
import { kindOf } from "@lathe/system/paths";
import { nestedIgnore } from "../nested-ignore.ts";
import { filesArgs, type Place } from "../place.ts";
import { runRipgrep } from "../ripgrep.ts";
import type { FileStamp } from "../tree/file-stamp.ts";

export interface FileLook {
  readonly stamp: FileStamp;
  /** It has other names, under which it may change unnoticed. */
  readonly isLinked: boolean;
}

export function isFolder(path: string): boolean {
  return kindOf(path)?.isDirectory() ?? false;
}

/** Undefined for what is no regular file. */
export function lookAt(path: string): FileLook | undefined {
  const stats = kindOf(path);
  if (!stats?.isFile()) return undefined;
  const stamp = { size: stats.size, mtime: stats.mtimeMs, ctime: stats.ctimeMs, inode: stats.ino };
  return { stamp, isLinked: stats.nlink > 1 };
}

/** Which folders and files ignore rules leave out, as ripgrep's log tells. */
const left = /ignoring \.\/(.*): Ignore\(IgnoreMatch\(/;

export interface ListOptions {
  /** Only the files right in these, none below; the whole tree when absent. */
  readonly folders?: readonly string[];
  /** *Contract:* called with each file that ripgrep searches, in no order, while it lists more. */
  readonly see: (path: string) => void;
}

/**
 * Gives what is left out, or undefined when ripgrep could not list the files. A line of the log that is not understood only
 * makes a folder watched that need not be.
 */
export async function listFiles(
  place: Place,
  { folders = [], see }: ListOptions,
  signal: AbortSignal,
): Promise<ReadonlySet<string> | undefined> {
  const leftOut = new Set<string>();
  const ignored = nestedIgnore(place);
  let rest = "";
  const all = filesArgs(place);
  const some = [...all.slice(0, -1), ...folders.map((folder) => `./${folder}`)];
  const args = ["--no-messages", "--debug", ...(folders.length > 0 ? ["--max-depth", "1", ...some] : all)];
  const ended = await runRipgrep({
    program: place.program,
    args,
    cwd: place.root,
    separator: "\0",
    signal,
    record(printed) {
      const path = printed.startsWith("./") ? printed.slice(2) : printed;
      if (path !== "" && !ignored(path)) see(path);
      return true;
    },
    beside(text) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const path = left.exec(line)?.[1];
        if (path !== undefined) leftOut.add(path);
      }
    },
  });
  return isFailure(ended) ? undefined : leftOut;
}
