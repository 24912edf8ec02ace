/** Run later: the one list of files that programs on the user's machine run or obey by themselves, and who is in it. */
import { agentFiles } from "./agent-files.ts";
import { editorFiles } from "./editor-files.ts";
import { indexPaths, type PathBelow, type PathIndex, type PathMatch } from "./path-index.ts";
import type { RunLaterEntry } from "./run-later-entry.ts";
import { toolFiles } from "./tool-files.ts";
import { versionControlFiles } from "./version-control-files.ts";

/** *Contract:* what belongs here, a program obeys without the user choosing to run the project's own code. */
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

/** Of a file or folder by its name and the path of its folder, in any case of their letters. */
export function findRunLaterName(folder: string, name: string): PathMatch<RunLaterEntry> | undefined {
  return index().findName(folder, name);
}

/** Of a path, relative or absolute: it is in the list, or below a folder that is. */
export function findRunLater(path: string): PathMatch<RunLaterEntry> | undefined {
  return index().find(path);
}

/** What the list names below a folder of that name, as `config.toml` in `.cargo`; what it names with a `*` is left out. */
export function runLaterBelow(name: string): readonly PathBelow[] {
  return index().below(name);
}

/** As a glob for a rule of policy that ignores case. */
export function runLaterGlob(): string {
  const paths = runLaterEntries.flatMap((entry) => entry.paths);
  return `**/{${paths.map((path) => (path.endsWith("/") ? `${path}**` : path)).join()}}`;
}
