/** Extension files: Markdown files of the project and the user that define agents, commands and skills. */
import { dirname, join, relative, sep } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { isFailure } from "@lathe/protocol";
import { configFolder } from "@lathe/system";
import { findExtensionPaths, type SearchedFolder } from "./extension-paths.ts";
import type { ExtensionPlace } from "./extension-place.ts";
import { nameOf } from "./fields.ts";
import { type Markdown, readFrontMatter } from "./front-matter.ts";
import { readRegularFile, readRootFile } from "./read-file.ts";

interface Origin {
  /** The name in the file; for a command, or without such a name, the name of its file or folder. */
  readonly name: string;
  /** The name by its path: `git:ship` for `git/ship.md`; the folder's name for a file with its own folder. */
  readonly placeName: string;
  /** For people and models: relative to the workspace, or absolute. */
  readonly path: string;
  /** Whether it belongs to the project, not to the user. */
  readonly isProjects: boolean;
}

export interface ExtensionFile extends Origin, Markdown {}

/** A file that cannot be read or is refused; its name is read as far as possible. */
export interface SkippedFile extends Origin {
  readonly why: string;
}

export interface ExtensionFiles {
  /** One file per name; the user's wins over the project's. */
  readonly files: readonly ExtensionFile[];
  /** Other files with a name in `files`. */
  readonly hidden: readonly ExtensionFile[];
  readonly skipped: readonly SkippedFile[];
  /** One sentence for each file that was skipped, with the reason. */
  readonly remarks: readonly string[];
}

/** `agents` and `commands` are files; `skills` are folders that each contain the file `file`. */
export interface ExtensionKind {
  readonly folder: "agents" | "commands" | "skills";
  readonly file?: string;
  /** *Contract:* returns the reason to skip a file, so that another file with its name can be used. */
  refuses?(file: ExtensionFile): string | undefined;
}

const projectFolders = [".agents", ".claude"];
/** Per file. */
const maxBytes = 64 * 1024;

export async function readExtensionFiles(
  place: ExtensionPlace,
  kind: ExtensionKind,
): Promise<ExtensionFiles> {
  const { found, remarks } = await findFiles(place, kind);
  const byName = new Map<string, ExtensionFile>();
  const hidden: ExtensionFile[] = [];
  const skipped: SkippedFile[] = [];
  for (const one of found) {
    // A project's file never replaces the user's, not even one that cannot be read.
    const unread = one.isProjects && skipped.find(({ name, isProjects }) => name === one.name && !isProjects);
    if ("why" in one) skipped.push(one);
    else if (unread) skipped.push({ ...one, why: sameName(unread) });
    else if (byName.has(one.name)) hidden.push(one);
    else byName.set(one.name, one);
  }
  const differing = hidden.flatMap((one) => {
    const first = byName.get(one.name);
    return !first || isSame(one, first) ? [] : [{ ...one, why: sameName(first) }];
  });
  return {
    files: [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
    hidden,
    skipped,
    remarks: [
      ...remarks,
      ...[...skipped, ...differing].map(({ path, why }) => `${path} was left out: ${why}`),
    ],
  };
}

function sameName({ name, path }: Origin): string {
  return `${path} is named ${name}, too`;
}

/** Some people keep copies of a file for several agents; a copy needs no remark. */
function isSame(one: ExtensionFile, other: ExtensionFile): boolean {
  return one.body === other.body && isDeepStrictEqual(one.fields, other.fields);
}

interface Found {
  /** The user's files come first. */
  readonly found: readonly (ExtensionFile | SkippedFile)[];
  readonly remarks: readonly string[];
}

type Folder = Omit<SearchedFolder, "file">;

async function findFiles({ cwd, env }: ExtensionPlace, kind: ExtensionKind): Promise<Found> {
  const folders: readonly Folder[] = [
    { root: configFolder(env), folder: kind.folder, isProjects: false },
    ...projectFolders.map((name) => ({ root: cwd, folder: join(name, kind.folder), isProjects: true })),
  ];
  const found: (ExtensionFile | SkippedFile)[] = [];
  const remarks: string[] = [];
  for (const folder of folders) {
    const { file } = kind;
    const listed = findExtensionPaths({ ...folder, ...(file !== undefined && { file }) });
    remarks.push(...listed.remarks);
    for (const path of listed.paths) {
      const one = await read(path, folder, kind);
      if (one) found.push(one);
    }
  }
  return { found, remarks };
}

/** `below` is the path from the root of `folder`. */
async function read(
  below: string,
  { root, folder, isProjects }: Folder,
  kind: ExtensionKind,
): Promise<ExtensionFile | SkippedFile | undefined> {
  const path = isProjects ? below : join(root, below);
  const names = namesOf(below, folder, kind);
  const start = isProjects ? readRootFile(root, below, maxBytes) : readRegularFile(path, maxBytes);
  if (start === undefined) return undefined;
  const skip = (why: string): SkippedFile => ({ ...names, path, isProjects, why });
  if (isFailure(start)) return skip(start.text);
  if (start.cut) return skip(`it is longer than ${maxBytes / 1024} KB`);
  const markdown = await readFrontMatter(new TextDecoder().decode(start.bytes));
  if (typeof markdown === "string") return skip(markdown);
  const name = kind.folder === "commands" ? names.name : nameOf(markdown.fields, names.name);
  const one = { ...names, name, path, isProjects, ...markdown };
  const refused = kind.refuses?.(one);
  return refused === undefined ? one : { ...skip(refused), name };
}

function namesOf(below: string, folder: string, { file }: ExtensionKind): Pick<Origin, "name" | "placeName"> {
  const path = relative(folder, file === undefined ? below : dirname(below));
  const parts = file === undefined ? path.replace(/\.md$/u, "").split(sep) : [path];
  return { name: parts.at(-1) ?? path, placeName: parts.join(":") };
}
