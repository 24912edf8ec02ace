/** Instructions: the AGENTS.md or CLAUDE.md of the user, the repository and the workspace. */
import { lstatSync, statSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { type Failure, isFailure } from "@lathe/protocol";
import { configFolder } from "@lathe/system";
import type { ExtensionPlace } from "./files/extension-place.ts";
import { type FileStart, readRegularFile, readRootFile } from "./files/read-file.ts";

const names = ["AGENTS.md", "CLAUDE.md"];
const limit = 8 * 1024;

export interface Instructions {
  readonly texts: readonly { readonly path: string; readonly text: string }[];
  /** One sentence for each text that was skipped or cut, and each reference that was not followed. */
  readonly remarks: readonly string[];
}

/** Reads the user's file, then one per folder from the repository's root down, each cut at 8 KB. */
export function readInstructions({ cwd, env }: ExtensionPlace): Instructions {
  const own = join(configFolder(env), "AGENTS.md");
  const root = rootAbove(cwd);
  const above = root === undefined ? [] : foldersBetween(root, cwd);
  const folders: readonly Folder[] = [
    ...above.map((folder) => ({ root: root ?? cwd, folder, seenFrom: cwd })),
    { root: cwd, folder: "" },
  ];
  const found = [
    given(own, readRegularFile(own, limit)),
    ...folders.map((folder) => withNotFollowed(readIn(folder), folder)),
  ];
  // Instructions nearer to the workspace are more specific, so they are kept first.
  const texts = bounded(found.flatMap((one) => one.texts).reverse(), maxAtStart);
  return { texts: texts.toReversed(), remarks: found.flatMap(({ remarks }) => remarks) };
}

/** The repository root above a workspace; undefined if there is none, or another user owns it. */
function rootAbove(cwd: string): string | undefined {
  try {
    for (let folder = cwd; ; folder = dirname(folder)) {
      const git = lstatSync(join(folder, ".git"), { throwIfNoEntry: false });
      if (git) return folder !== cwd && git.uid === statSync(cwd).uid ? folder : undefined;
      if (folder === dirname(folder)) return undefined;
    }
  } catch {
    // A folder that cannot be read gives no instructions.
    return undefined;
  }
}

/** Paths from the root down, the root first. */
function foldersBetween(root: string, cwd: string): readonly string[] {
  const parts = relative(root, cwd).split(sep);
  return parts.map((_, at) => parts.slice(0, at).join("/"));
}

/** Characters given in full, during a session and at its start; for other texts only the path is given. */
const maxNested = 3 * limit;
const maxAtStart = 4 * limit;

/** The instructions in the given folders, outer folders first. */
export function nestedInstructions(
  cwd: string,
  redact: (text: string) => Promise<string>,
): (folders: readonly string[]) => Promise<Instructions["texts"]> {
  return async (folders) => {
    const found = bounded(
      folders.flatMap((folder) => readIn({ root: cwd, folder }).texts),
      maxNested,
    );
    return Promise.all(found.map(async ({ path, text }) => ({ path, text: await redact(text) })));
  };
}

function bounded(texts: Instructions["texts"], max: number): Instructions["texts"] {
  let left = max;
  return texts.map(({ path, text }) => {
    left -= text.length;
    return { path, text: left >= 0 ? text : `[too long to be given here: read ${path}]` };
  });
}

interface Folder {
  readonly root: string;
  /** Relative to the root, with slashes. */
  readonly folder: string;
  /** The folder that shown paths are relative to; absent for the root. */
  readonly seenFrom?: string;
}

function readIn({ root, folder, seenFrom = root }: Folder): Instructions {
  const remarks: string[] = [];
  for (const name of names) {
    const below = folder === "" ? name : `${folder}/${name}`;
    const path = seenFrom === root ? below : relative(seenFrom, join(root, below));
    const found = given(path, readRootFile(root, below, limit));
    remarks.push(...found.remarks);
    if (found.texts.length > 0) return { texts: found.texts, remarks };
  }
  return { texts: [], remarks };
}

/** An empty file counts as missing, so that the next name is tried. */
function given(path: string, file: FileStart | Failure | undefined): Instructions {
  if (file === undefined) return { texts: [], remarks: [] };
  if (isFailure(file)) return { texts: [], remarks: [`the instructions were left out: ${file.text}`] };
  const { bytes, cut } = file;
  const text = new TextDecoder().decode(bytes, { stream: cut });
  if (text.trim() === "") return { texts: [], remarks: [] };
  if (!cut) return { texts: [{ path, text }], remarks: [] };
  const rest = `${text}\n[cut at ${limit} bytes: read ${path} for the rest]`;
  const remark = `${path} is longer than ${limit / 1024} KB: the agent is given the beginning, and told where the rest is`;
  return { texts: [{ path, text: rest }], remarks: [remark] };
}

function withNotFollowed({ texts, remarks }: Instructions, folder: Folder): Instructions {
  return { texts, remarks: [...remarks, ...texts.flatMap((text) => notFollowed(text, folder))] };
}

/** Other agents include the file that `@docs/style.md` names; Lathe only reports it. */
function notFollowed(
  { path, text }: Instructions["texts"][number],
  { root, folder }: Folder,
): readonly string[] {
  const prose = text.replace(/```[\s\S]*?(?:```|$)|`[^`\n]*`/gu, "");
  const named = [...prose.matchAll(/(?<=^|\s)@([\w./~-]*\w)/gu)].map(([, name = ""]) => name);
  const files = [...new Set(named)].filter((name) => {
    const file = readRootFile(root, join(folder, name), 0);
    return name.startsWith("~/") || (file !== undefined && !isFailure(file));
  });
  const list = files.map((name) => `@${name}`).join(", ");
  return files.length === 0 ? [] : [`${path} names ${list}: the agent may read that, and is not given it`];
}
