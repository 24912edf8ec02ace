/** The workspace port on a local folder. */
import { lstatSync, readdirSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  type Change,
  type Committed,
  type Entry,
  type Failure,
  type Fenced,
  type FileContent,
  failure,
  isFailure,
  type Workspace,
} from "@lathe/protocol";
import { applyCommit } from "./apply-commit.ts";
import { type Disk, nodeDisk } from "./disk.ts";
import { errorCode, fileFailure } from "./file-failure.ts";
import { nearNames } from "./near-names.ts";
import { planCommit } from "./plan-commit.ts";
import { readText, versionOf } from "./read-file.ts";
import { type Resolved, resolvePath } from "./resolve-path.ts";

export interface WorkspaceOptions {
  /** An existing folder. */
  readonly root: string;
  /** Around what a commit changes: of the session's owner, so that no deposed one changes files. */
  readonly fenced?: Fenced;
  readonly disk?: Disk;
}

/** Throws when the root is not an existing folder: its caller has chosen it. */
export function createWorkspace(options: WorkspaceOptions): Workspace {
  const root = realpathSync.native(options.root);
  const { fenced = (effect) => effect(), disk = nodeDisk } = options;
  return {
    root,
    versionOf,
    async resolve(path) {
      const resolved = resolvePath(root, path);
      return isFailure(resolved) ? resolved : resolved.path;
    },
    // Reads of small files take 0.02 ms synchronously and 0.1 ms through promises.
    read: async (path) => readOf(root, path),
    list: async (path) => listOf(root, path),
    async commit(changes) {
      const linked = changes.map((change) => deletedLink(root, change)).find((one) => one !== undefined);
      if (linked) return linked;
      const steps = planCommit(root, changes);
      if (isFailure(steps)) return steps;
      const failed = await applyCommit(steps, disk, fenced);
      if (failed) return failed;
      return steps.map(({ path, before, after }): Committed => {
        return { path, ...(before && { before }), ...(after && { after: after.version }) };
      });
    },
  };
}

function readOf(root: string, path: string): FileContent | Failure {
  const resolved = resolvePath(root, path);
  if (isFailure(resolved)) return withNames(resolved, root, path);
  return readText(resolved) ?? withNames(notFound(resolved), root, resolved.path);
}

function listOf(root: string, path: string): readonly Entry[] | Failure {
  const resolved = resolvePath(root, path);
  if (isFailure(resolved)) return resolved;
  try {
    return readdirSync(resolved.absolute, { withFileTypes: true })
      .map((entry): Entry => {
        const kind = entry.isFile()
          ? "file"
          : entry.isDirectory()
            ? "folder"
            : entry.isSymbolicLink()
              ? "link"
              : "other";
        const stats =
          kind === "file"
            ? lstatSync(join(resolved.absolute, entry.name), { throwIfNoEntry: false })
            : undefined;
        return { name: entry.name, kind, size: stats?.size ?? 0 };
      })
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOTDIR") return failure("not-a-file", `${resolved.path} is a file: use \`read\`.`);
    return code === "ENOENT"
      ? withNames(notFound(resolved), root, resolved.path)
      : fileFailure(resolved.path, error);
  }
}

function notFound({ path }: Resolved): Failure {
  return failure("not-found", `${path} does not exist.`);
}

function withNames(found: Failure, root: string, path: string): Failure {
  if (found.code !== "not-found") return found;
  const names = nearNames(root, path);
  return names.length === 0 ? found : { ...found, text: `${found.text} Near names: ${names.join(", ")}.` };
}

/** Links are followed everywhere else, but who deletes a link does not mean the file behind it. */
function deletedLink(root: string, change: Change): Failure | undefined {
  if (change.type !== "delete") return undefined;
  if (!lstatSync(resolve(root, change.path), { throwIfNoEntry: false })?.isSymbolicLink()) return undefined;
  return failure("not-a-file", `${change.path} is a symbolic link: remove it with \`rm\` in the shell.`);
}
