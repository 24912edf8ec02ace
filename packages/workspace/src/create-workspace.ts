/** The workspace port on a local folder. */
import { lstatSync, readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import {
  type Entry,
  type Failure,
  type FileBytes,
  type FileContent,
  failure,
  isFailure,
  type Workspace,
} from "@lathe/protocol";
import type { CommitEngine } from "./commit/commit-engine.ts";
import { versionOf } from "./commit/step.ts";
import { errorCode, fileFailure } from "./file-failure.ts";
import { nearNames } from "./reading/near-names.ts";
import { readBytes, readText } from "./reading/read-file.ts";
import { type Resolved, resolvePath } from "./reading/resolve-path.ts";
import type { WorkspaceOptions } from "./workspace-options.ts";

export interface LocalWorkspace extends Workspace {
  /** *Contract:* the first change will not have to wait for what it needs. */
  prepare(): Promise<void>;
  /** *Contract:* removes its journal; idempotent, and it may be used again. A process that ends without is tidied up by the next. */
  close(): Promise<void>;
}

/**
 * No I/O but to find the root, and throws when that is not an existing folder: its caller has chosen it.
 *
 * A file is replaced by a new one: of several hard links only the named one changes (others may be a package
 * manager's store or a backup), and access control lists and extended attributes are not taken over.
 */
export function createWorkspace(options: WorkspaceOptions): LocalWorkspace {
  const root = realpathSync.native(options.root);
  let engine: Promise<CommitEngine> | undefined;
  const load = (): Promise<CommitEngine> => {
    engine ??= import("./commit/commit-engine.ts").then(({ createCommitEngine }) =>
      createCommitEngine(root, options),
    );
    return engine;
  };
  let isClean: boolean | undefined;
  /** Reads what is whole again: looked for once, and waited for where there is something. */
  const recovered = async (): Promise<void> => {
    isClean ??= options.journal === undefined || isEmpty(options.journal);
    if (!isClean) await (await load()).recover();
  };
  return {
    root,
    versionOf,
    async resolve(path) {
      const resolved = resolvePath(root, path);
      return isFailure(resolved) ? resolved : resolved.path;
    },
    // Reads of small files take 0.02 ms synchronously and 0.1 ms through promises.
    async read(path) {
      await recovered();
      return readOf(root, path);
    },
    async bytes(path, maxBytes) {
      await recovered();
      return bytesOf(root, path, maxBytes);
    },
    async list(path) {
      await recovered();
      return listOf(root, path);
    },
    commit: async (changes) => (await load()).commit(changes),
    prepare: async () => void (await load()),
    close: async () => (await engine)?.close(),
  };
}

/** A folder that is not there, or holds nothing. */
function isEmpty(folder: string): boolean {
  try {
    return readdirSync(folder).length === 0;
  } catch (error) {
    return errorCode(error) === "ENOENT";
  }
}

function readOf(root: string, path: string): FileContent | Failure {
  const resolved = resolvePath(root, path);
  if (isFailure(resolved)) return withNames(resolved, root, path);
  return readText(resolved) ?? withNames(notFound(resolved), root, resolved.path);
}

function bytesOf(root: string, path: string, maxBytes: number): FileBytes | Failure {
  const resolved = resolvePath(root, path);
  if (isFailure(resolved)) return withNames(resolved, root, path);
  const found = readBytes(resolved, maxBytes);
  if (found === undefined) return withNames(notFound(resolved), root, resolved.path);
  if (isFailure(found)) return found;
  return { path: resolved.path, bytes: found.bytes, version: versionOf(found.bytes) };
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
