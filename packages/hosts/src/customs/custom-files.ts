/** Custom files: Markdown that the project and the user put down for Lathe, by kind of thing and name. */
import { readdirSync } from "node:fs";
import { basename, join, sep } from "node:path";
import { isFailure } from "@lathe/protocol";
import { configFolder } from "../places/config-folder.ts";
import { readRegularFile } from "../places/regular-file.ts";
import { readRootFile } from "../places/root-file.ts";
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
/** Files of one folder. */
const mostFiles = 200;

export function readCustomFiles({ cwd, env }: CustomPlace, kind: CustomKind): CustomFiles {
  const byName = new Map<string, CustomFile>();
  const remarks: string[] = [];
  const add = (found: CustomFile | string | undefined): void => {
    const refused = typeof found === "object" ? kind.refuses?.(found) : found;
    if (refused !== undefined) remarks.push(refused);
    else if (typeof found === "object" && !byName.has(found.name)) byName.set(found.name, found);
  };
  for (const folder of projectFolders) {
    for (const { name, path } of namesIn(cwd, join(folder, kind.folder), kind)) {
      add(read({ name, path, isProjects: true }, readRootFile(cwd, path, mostBytes)));
    }
  }
  const own = configFolder(env);
  for (const { name, path: below } of namesIn(own, kind.folder, kind)) {
    const path = join(own, below);
    add(read({ name, path, isProjects: false }, readRegularFile(path, mostBytes)));
  }
  return { files: [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1)), remarks };
}

interface Named {
  readonly name: string;
  readonly path: string;
}

/** Paths from `root`. */
function namesIn(root: string, folder: string, { file }: CustomKind): readonly Named[] {
  try {
    if (file !== undefined) {
      const names = readdirSync(join(root, folder)).sort().slice(0, mostFiles);
      return names.map((name) => ({ name, path: join(folder, name, file) }));
    }
    // Folders within are for order alone; of two with one name the one that lies higher.
    const paths = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" });
    return paths
      .filter((path) => path.endsWith(".md"))
      .sort((a, b) => depthOf(a) - depthOf(b) || (a < b ? -1 : 1))
      .slice(0, mostFiles)
      .map((path) => ({ name: basename(path, ".md"), path: join(folder, path) }));
  } catch {
    return [];
  }
}

function depthOf(path: string): number {
  return path.split(sep).length;
}

type Place = Omit<CustomFile, keyof Markdown>;

function read(place: Place, start: ReturnType<typeof readRootFile>): CustomFile | string | undefined {
  if (start === undefined) return undefined;
  if (isFailure(start)) return `${place.path} was left out: ${start.text}`;
  if (start.cut) return `${place.path} was left out: it is longer than ${mostBytes / 1024} KB`;
  const markdown = readFrontMatter(new TextDecoder().decode(start.bytes));
  if (typeof markdown === "string") return `${place.path} was left out: ${markdown}`;
  return { ...place, ...markdown };
}
