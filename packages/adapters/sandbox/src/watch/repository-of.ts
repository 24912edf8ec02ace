/** Which repository git takes a folder for a part of: where its working tree begins, and whose settings hold in it. */
import { dirname, join, resolve } from "node:path";
import { readBounded } from "@lathe/system";
import { kindOf } from "@lathe/system/paths";
import { keepAnswers } from "../paths/kept-answers.ts";
import { readPlain } from "./pinned-folder.ts";

export interface Repository {
  /** The top of the working tree: settings name files from there. */
  readonly top: string;
  /** Folders of git's whose settings hold: that of this working tree, and that of them all, which may be the same. */
  readonly folders: readonly string[];
}

/** *Contract:* as git finds it, whatever its owner and place: used to protect paths, never to allow them. */
export function repositoryOf(folder: string): Repository | undefined {
  for (let top = folder; ; top = dirname(top)) {
    const own = gitFolder(join(top, ".git"));
    if (own !== undefined) return { top, folders: [...new Set([own, commonFolder(own)])] };
    if (top === "/") return undefined;
  }
}

/** Those of `config.worktree` too, which git reads where it is told to. */
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

/** A file of that name says where it lies. */
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

/** The user's own settings of git, which hold for every repository. */
export function globalSettings(home: string): readonly string[] {
  return keep(home, ({ content }) =>
    [".gitconfig", ".config/git/config"].flatMap((name) => {
      content(join(home, name));
      return readPlain(join(home, name)) ?? [];
    }),
  ).value;
}
