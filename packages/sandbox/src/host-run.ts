/** What of a workspace programs on the host run by themselves: guarded where it is, taken back where a command made it. */
import { basename, dirname, join } from "node:path";
import { kindOf } from "./kind-of.ts";
import { cleanNewRepository } from "./new-repository.ts";
import { inFolder } from "./pinned-folder.ts";

/** Read when a folder is entered, opened or worked in by an agent, with nobody asked. */
const names: readonly string[] = [
  ".envrc",
  ".mcp.json",
  ".vscode/tasks.json",
  ".cursor/mcp.json",
  ".claude/settings.json",
  ".claude/settings.local.json",
  ".codex/config.toml",
  ".gemini/settings.json",
];

export interface HostRunFiles {
  /** Folders that must stay where they are. */
  readonly folders: readonly string[];
  readonly files: readonly string[];
}

/** Those that are there. */
export function hostRunFiles(workspace: string): HostRunFiles {
  const files = names.map((name) => join(workspace, name)).filter((path) => kindOf(path)?.isFile());
  const folders = files.map(dirname).filter((folder) => folder !== workspace);
  return { folders: [...new Set(folders)], files };
}

/** Remembers what is not there; the result takes back what has come to be since, and names it. */
export function watchHostRun(workspace: string): () => readonly string[] {
  const git = join(workspace, ".git");
  const hadGit = kindOf(git) !== undefined;
  // It makes git read its settings and hooks from elsewhere.
  const watched = hadGit ? [...names, ".git/commondir"] : names;
  const absent = watched.filter((name) => !kindOf(join(workspace, name)));
  return () => {
    try {
      const made = absent.flatMap((name) => takeBack(workspace, name));
      return hadGit ? made : [...made, ...newRepository(workspace, git)];
    } catch {
      // A workspace that is gone, or is not ours to change, holds nothing that could be taken back.
      return [];
    }
  };
}

/** The file; or, when a link stands in for its folder and leads elsewhere, that link. */
function takeBack(workspace: string, path: string): readonly string[] {
  const [name, folder] = [basename(path), dirname(path)];
  const taken = inFolder(join(workspace, folder), workspace, (inside) => inside.remove(name));
  if (taken) return [path];
  if (taken === false || !kindOf(join(workspace, folder))?.isSymbolicLink()) return [];
  const isLeft = kindOf(join(workspace, path)) !== undefined;
  const isTaken = isLeft && inFolder(workspace, workspace, (inside) => inside.remove(folder));
  return isTaken ? [folder] : [];
}

function newRepository(workspace: string, git: string): readonly string[] {
  const kind = kindOf(git);
  if (kind?.isDirectory()) return cleanNewRepository(git, workspace).map((name) => `.git/${name}`);
  const remove = (name: string): boolean =>
    inFolder(workspace, workspace, (inside) => inside.remove(name)) ?? false;
  // A pointer or a link to a folder that commands can write.
  if (kind) return remove(".git") ? [".git"] : [];
  // Git takes a folder that looks so for a repository.
  const isBare = ["HEAD", "objects", "refs"].every((name) => kindOf(join(workspace, name)));
  return isBare && remove("HEAD") ? ["HEAD (of a bare repository)"] : [];
}
