/** Run later: the one list of files that programs on the user's machine run or obey by themselves. */
import { agentFiles } from "./agent-files.ts";
import { editorFiles } from "./editor-files.ts";
import { indexPaths, type PathBelow, type PathIndex, type PathMatch } from "./path-index.ts";
import type { RunLaterEntry } from "./run-later-entry.ts";
import { toolFiles } from "./tool-files.ts";
import { versionControlFiles } from "./version-control-files.ts";

/** *Contract:* lists only files that a program obeys even if the user never runs the project's own code. */
export const runLaterEntries: readonly RunLaterEntry[] = [
  ...editorFiles,
  ...agentFiles,
  ...toolFiles,
  ...versionControlFiles,
];

let made: PathIndex<RunLaterEntry> | undefined;

function index(): PathIndex<RunLaterEntry> {
  made ??= indexPaths(runLaterEntries);
  return made;
}

/** Finds a file or folder by its name and the path of its folder, ignoring case. */
export function findRunLaterName(folder: string, name: string): PathMatch<RunLaterEntry> | undefined {
  return index().findName(folder, name);
}

/** Finds a relative or absolute path that is listed, or is below a listed folder. */
export function findRunLater(path: string): PathMatch<RunLaterEntry> | undefined {
  return index().find(path);
}

/**
 * Listed paths below a folder of that name, such as `config.toml` in `.cargo`; without those that contain a
 * `*`.
 */
export function runLaterBelow(name: string): readonly PathBelow[] {
  return index().below(name);
}

/** The list as a glob for a policy rule that ignores case. */
export function runLaterGlob(): string {
  const paths = runLaterEntries.flatMap((entry) => entry.paths);
  return `**/{${paths.map((path) => (path.endsWith("/") ? `${path}**` : path)).join()}}`;
}
