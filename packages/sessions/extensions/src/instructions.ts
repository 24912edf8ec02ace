/** Instructions: what the user, the repository and the workspace tell an agent, from AGENTS.md or CLAUDE.md. */
import { lstatSync, statSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { type Failure, isFailure } from "@lathe/protocol";
import { configFolder } from "@lathe/system";
import type { ExtensionPlace } from "./files/extension-place.ts";
import { type FileStart, readRegularFile } from "./files/regular-file.ts";
import { readRootFile } from "./files/root-file.ts";

const names = ["AGENTS.md", "CLAUDE.md"];
const limit = 8 * 1024;

export interface Instructions {
  readonly texts: readonly { readonly path: string; readonly text: string }[];
  /** What was left out, cut or not followed and why, one sentence each. */
  readonly remarks: readonly string[];
}

/** The user's own, those of the folders from the root of the repository down, and the workspace's: of each the first file, cut at 8 KB. */
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
  // What lies nearer says more of the work.
  const texts = bounded(found.flatMap((one) => one.texts).reverse(), mostAtStart);
  return { texts: texts.toReversed(), remarks: found.flatMap(({ remarks }) => remarks) };
}

/** The root of the repository that a workspace lies in; undefined where that is the workspace, or another user's. */
function rootAbove(cwd: string): string | undefined {
  try {
    for (let folder = cwd; ; folder = dirname(folder)) {
      const git = lstatSync(join(folder, ".git"), { throwIfNoEntry: false });
      if (git) return folder !== cwd && git.uid === statSync(cwd).uid ? folder : undefined;
      if (folder === dirname(folder)) return undefined;
    }
  } catch {
    // What may not be looked at is nobody's who speaks here.
    return undefined;
  }
}

/** From the root, which is the first. */
function foldersBetween(root: string, cwd: string): readonly string[] {
  const parts = relative(root, cwd).split(sep);
  return parts.map((_, at) => parts.slice(0, at).join("/"));
}

/** Bytes given at once; the rest is named. */
const mostAtOnce = 3 * limit;
const mostAtStart = 4 * limit;

/** What the folders say, the outer ones first. */
export function nestedInstructions(
  cwd: string,
  redact: (text: string) => Promise<string>,
): (folders: readonly string[]) => Promise<Instructions["texts"]> {
  return async (folders) => {
    const found = bounded(
      folders.flatMap((folder) => readIn({ root: cwd, folder }).texts),
      mostAtOnce,
    );
    return Promise.all(found.map(async ({ path, text }) => ({ path, text: await redact(text) })));
  };
}

function bounded(texts: Instructions["texts"], most: number): Instructions["texts"] {
  let left = most;
  return texts.map(({ path, text }) => {
    left -= text.length;
    return { path, text: left >= 0 ? text : `[too long to be given here: read ${path}]` };
  });
}

interface Folder {
  readonly root: string;
  /** From the root, with slashes. */
  readonly folder: string;
  /** Where paths are told from; absent for the root. */
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

/** An empty file says nothing, so that another may. */
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

/** Others read `@docs/style.md` into the text. */
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
