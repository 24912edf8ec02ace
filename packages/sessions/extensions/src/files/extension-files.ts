/** Custom files: Markdown that the project and the user put down for Lathe, by kind of thing and name. */
import { dirname, join, relative, sep } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { isFailure } from "@lathe/protocol";
import { configFolder } from "@lathe/system";
import { findCustomPaths, type Looked } from "./extension-paths.ts";
import type { ExtensionPlace } from "./extension-place.ts";
import { nameOf } from "./fields.ts";
import { type Markdown, readFrontMatter } from "./front-matter.ts";
import { readRegularFile } from "./regular-file.ts";
import { readRootFile } from "./root-file.ts";

interface Place {
  /** What it calls itself; of a command, and where it says none, that of the file or its folder. */
  readonly name: string;
  /** By where it lies: `git:ship` for `git/ship.md`, its folder for a file that has one of its own. */
  readonly placeName: string;
  /** For people and models: from the workspace, or absolute. */
  readonly path: string;
  /** Whether the project brought it, not the user. */
  readonly isProjects: boolean;
}

export interface CustomFile extends Place, Markdown {}

/** One that cannot be read, or is refused; by the name it would have as far as that is known. */
export interface LeftOut extends Place {
  readonly why: string;
}

export interface CustomFiles {
  /** One for each name: the user's before the project's. */
  readonly files: readonly CustomFile[];
  /** Others of these names. */
  readonly hidden: readonly CustomFile[];
  readonly leftOut: readonly LeftOut[];
  /** What was left out and why, one sentence each. */
  readonly remarks: readonly string[];
}

/** `agents`, `commands`: files of their own; `skills`: a folder each, with this file in it. */
export interface CustomKind {
  readonly folder: "agents" | "commands" | "skills";
  readonly file?: string;
  /** *Contract:* why one is left out, so that another of its name may stand. */
  refuses?(file: CustomFile): string | undefined;
}

const projectFolders = [".agents", ".claude"];
/** Bytes of one file. */
const mostBytes = 64 * 1024;

export async function readCustomFiles(place: ExtensionPlace, kind: CustomKind): Promise<CustomFiles> {
  const { found, remarks } = await findFiles(place, kind);
  const byName = new Map<string, CustomFile>();
  const hidden: CustomFile[] = [];
  const leftOut: LeftOut[] = [];
  for (const one of found) {
    // What a project brings does not come instead of the user's, even where that cannot be read.
    const unread = one.isProjects && leftOut.find(({ name, isProjects }) => name === one.name && !isProjects);
    if ("why" in one) leftOut.push(one);
    else if (unread) leftOut.push({ ...one, why: hiding(unread) });
    else if (byName.has(one.name)) hidden.push(one);
    else byName.set(one.name, one);
  }
  const second = hidden.flatMap((one) => {
    const first = byName.get(one.name);
    return !first || isSame(one, first) ? [] : [{ ...one, why: hiding(first) }];
  });
  return {
    files: [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
    hidden,
    leftOut,
    remarks: [...remarks, ...[...leftOut, ...second].map(({ path, why }) => `${path} was left out: ${why}`)],
  };
}

function hiding({ name, path }: Place): string {
  return `${path} is named ${name}, too`;
}

/** Some keep the same files for several agents. */
function isSame(one: CustomFile, other: CustomFile): boolean {
  return one.body === other.body && isDeepStrictEqual(one.fields, other.fields);
}

interface Found {
  /** The user's first. */
  readonly found: readonly (CustomFile | LeftOut)[];
  readonly remarks: readonly string[];
}

async function findFiles({ cwd, env }: ExtensionPlace, kind: CustomKind): Promise<Found> {
  const own = configFolder(env);
  const roots: readonly Omit<Looked, "file">[] = [
    { root: own, folder: kind.folder, isProjects: false },
    ...projectFolders.map((name) => ({ root: cwd, folder: join(name, kind.folder), isProjects: true })),
  ];
  const found: (CustomFile | LeftOut)[] = [];
  const remarks: string[] = [];
  for (const looked of roots) {
    const { file } = kind;
    const listed = findCustomPaths({ ...looked, ...(file !== undefined && { file }) });
    remarks.push(...listed.remarks);
    for (const below of listed.paths) {
      const one = await read(below, looked, kind);
      if (one) found.push(one);
    }
  }
  return { found, remarks };
}

async function read(
  below: string,
  { root, folder, isProjects }: Omit<Looked, "file">,
  kind: CustomKind,
): Promise<CustomFile | LeftOut | undefined> {
  const path = isProjects ? below : join(root, below);
  const names = namesOf(below, folder, kind);
  const start = isProjects ? readRootFile(root, below, mostBytes) : readRegularFile(path, mostBytes);
  if (start === undefined) return undefined;
  const leftOut = (why: string): LeftOut => ({ ...names, path, isProjects, why });
  if (isFailure(start)) return leftOut(start.text);
  if (start.cut) return leftOut(`it is longer than ${mostBytes / 1024} KB`);
  const markdown = await readFrontMatter(new TextDecoder().decode(start.bytes));
  if (typeof markdown === "string") return leftOut(markdown);
  const name = kind.folder === "commands" ? names.name : nameOf(markdown.fields, names.name);
  const one = { ...names, name, path, isProjects, ...markdown };
  const refused = kind.refuses?.(one);
  return refused === undefined ? one : { ...leftOut(refused), name };
}

function namesOf(below: string, folder: string, { file }: CustomKind): Pick<Place, "name" | "placeName"> {
  const path = relative(folder, file === undefined ? below : dirname(below));
  const parts = file === undefined ? path.replace(/\.md$/u, "").split(sep) : [path];
  return { name: parts.at(-1) ?? path, placeName: parts.join(":") };
}
