/** Custom files: Markdown that the project and the user put down for Lathe, by kind of thing and name. */
import { basename, dirname, join } from "node:path";
import { isFailure } from "@lathe/protocol";
import { configFolder } from "../places/config-folder.ts";
import { readRegularFile } from "../places/regular-file.ts";
import { readRootFile } from "../places/root-file.ts";
import { findCustomPaths, type Looked } from "./custom-paths.ts";
import { type Markdown, readFrontMatter } from "./front-matter.ts";

type Env = Readonly<Record<string, string | undefined>>;

export interface CustomFile extends Markdown {
  /** Of the file, without its ending and whatever folders it lies in; of a folder's file, the folder. */
  readonly name: string;
  /** For people and models: from the workspace, or absolute. */
  readonly path: string;
  /** Whether the project brought it, not the user. */
  readonly isProjects: boolean;
}

export interface CustomFiles {
  /** One for each name: the project's before the user's. */
  readonly files: readonly CustomFile[];
  /** What was left out and why, one sentence each. */
  readonly remarks: readonly string[];
}

export interface CustomPlace {
  readonly cwd: string;
  readonly env: Env;
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

export async function readCustomFiles({ cwd, env }: CustomPlace, kind: CustomKind): Promise<CustomFiles> {
  const byName = new Map<string, CustomFile>();
  const remarks: string[] = [];
  const add = (found: CustomFile | string | undefined): void => {
    const refused = typeof found === "object" ? kind.refuses?.(found) : found;
    if (refused !== undefined) remarks.push(refused);
    else if (typeof found === "object" && !byName.has(found.name)) byName.set(found.name, found);
  };
  const { file } = kind;
  const find = (looked: Omit<Looked, "file">): readonly string[] => {
    const found = findCustomPaths({ ...looked, ...(file !== undefined && { file }) });
    remarks.push(...found.remarks);
    return found.paths;
  };
  const nameOf = (path: string): string => basename(file === undefined ? path : dirname(path), ".md");
  for (const folder of projectFolders) {
    for (const path of find({ root: cwd, folder: join(folder, kind.folder), isProjects: true })) {
      add(await read({ name: nameOf(path), path, isProjects: true }, readRootFile(cwd, path, mostBytes)));
    }
  }
  const own = configFolder(env);
  for (const below of find({ root: own, folder: kind.folder, isProjects: false })) {
    const path = join(own, below);
    add(await read({ name: nameOf(path), path, isProjects: false }, readRegularFile(path, mostBytes)));
  }
  return { files: [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1)), remarks };
}

type Place = Omit<CustomFile, keyof Markdown>;

async function read(
  place: Place,
  start: ReturnType<typeof readRootFile>,
): Promise<CustomFile | string | undefined> {
  if (start === undefined) return undefined;
  if (isFailure(start)) return `${place.path} was left out: ${start.text}`;
  if (start.cut) return `${place.path} was left out: it is longer than ${mostBytes / 1024} KB`;
  const markdown = await readFrontMatter(new TextDecoder().decode(start.bytes));
  if (typeof markdown === "string") return `${place.path} was left out: ${markdown}`;
  return { ...place, ...markdown };
}
