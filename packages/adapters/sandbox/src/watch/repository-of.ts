/**
 * Which repository git counts a folder to: the top of its working tree, and the settings that apply to it.
 */
import { dirname, join, resolve } from "node:path";
import { readBounded } from "@lathe/system";
import { kindOf } from "@lathe/system/paths";
import { keepAnswers } from "../paths/kept-answers.ts";
import { readPlain } from "./pinned-folder.ts";

export interface Repository {
  /** Top of the working tree: paths in settings start there. */
  readonly top: string;
  /**
   * Git folders whose settings apply: that of this working tree and the common one, which may be the same.
   */
  readonly folders: readonly string[];
}

/**
 * *Contract:* finds the same repository as git, whatever its owner and place: use it to protect paths, never
 * to allow them.
 */
export function repositoryOf(folder: string): Repository | undefined {
  for (let top = folder; ; top = dirname(top)) {
    const own = gitFolder(join(top, ".git"));
    if (own !== undefined) return { top, folders: [...new Set([own, commonFolder(own)])] };
    if (top === "/") return undefined;
  }
}

/** Also includes `config.worktree`, which git reads if a setting says so. */
export function settingsOf({
  folders,
}: Repository): readonly { readonly git: string; readonly text: Buffer }[] {
  return folders.flatMap((git) =>
    ["config", "config.worktree"].flatMap((name) => {
      const text = bytesOf(join(git, name));
      return text === undefined ? [] : [{ git, text }];
    }),
  );
}

/** A file named `.git` holds the folder's path. */
function gitFolder(git: string): string | undefined {
  const target = /^gitdir: (.+?)\s*$/u.exec(bytesOf(git)?.toString() ?? "")?.[1];
  const folder = target === undefined ? git : resolve(dirname(git), target);
  return kindOf(join(folder, "HEAD")) ? folder : undefined;
}

function commonFolder(own: string): string {
  const relative = bytesOf(join(own, "commondir"))?.toString().trim() ?? "";
  return relative === "" ? own : resolve(own, relative);
}

const maxBytes = 4_000_000;

function bytesOf(path: string): Buffer | undefined {
  try {
    const file = readBounded(path, { maxBytes: maxBytes, links: "follow" });
    return file?.isCut === false ? file.bytes : undefined;
  } catch {
    return undefined;
  }
}

const keep = keepAnswers<readonly string[]>();

/** The user's own git settings, which apply to every repository. */
export function globalSettings(home: string): readonly string[] {
  return keep(home, ({ content }) =>
    [".gitconfig", ".config/git/config"].flatMap((name) => {
      content(join(home, name));
      return readPlain(join(home, name)) ?? [];
    }),
  ).value;
}
